/** Finding the folders of a large repository that discovery makes environments of, while the service serves others. */
import { parseDiscoveryFile } from '../../../server/src/automation/discovery/discovery-file/parse-discovery-file.ts';
import { parseVariableFiles } from '../../../server/src/automation/discovery/discovery-file/parse-variable-files.ts';
import { deployGlobFor } from '../../../server/src/automation/discovery/matching/deploy-glob.ts';
import { globRefusal } from '../../../server/src/automation/discovery/matching/glob-refusal.ts';
import { type MatchedTree, matchTree } from '../../../server/src/automation/discovery/matching/match-tree.ts';
import { placementsOf } from '../../../server/src/automation/discovery/matching/placement.ts';
import { type Bench, type BenchResult, type Figure, figure } from '../../measure/figure.ts';

const folders = 5000;
const filesOfFolder = 40;
const files = folders * filesOfFolder;
const id = '0123456789abcdef0123456789abcdef01234567';

/** As git prints it; written in place, because memory that it leaves would hide what matching needs. */
function listing(): Uint8Array {
  const bytes = Buffer.alloc(files * 128);
  let end = 0;
  for (let index = 0; index < folders; index++) {
    const folder = `environments/region-${index % 50}/service-${index}`;
    end += bytes.write(`040000 tree ${id}\t${folder}\0`, end);
    for (let file = 0; file < filesOfFolder; file++) {
      const name = file === 0 ? 'main.tf' : `assets/file-${file}.json`;
      end += bytes.write(`100644 blob ${id}\t${folder}/${name}\0`, end);
    }
  }
  return bytes.subarray(0, end);
}

function threadMilliseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

interface WatchedMatch {
  /** Processor time of the main thread in its longest turn: on a busy machine, a turn also waits. */
  readonly longestTurn: number;
  /** Most memory of the process, including its threads. */
  readonly mostBytes: number;
  readonly milliseconds: number;
  readonly matched: MatchedTree;
}

async function matchWatched(listed: Uint8Array, globPattern: string): Promise<WatchedMatch> {
  const bytes = Uint8Array.from(listed);
  let [turn, longestTurn, mostBytes] = [threadMilliseconds(), 0, 0];
  const watch = () => {
    const now = threadMilliseconds();
    longestTurn = Math.max(longestTurn, now - turn);
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
    turn = threadMilliseconds();
  };
  const ticks = setInterval(watch, 1);
  const startedAt = performance.now();
  try {
    const rule = { globPattern, rootPath: '', type: 'opentofu' as const, known: [] };
    const matched = await matchTree([bytes], rule, new AbortController().signal);
    watch();
    const milliseconds = performance.now() - startedAt;
    return { longestTurn, mostBytes, milliseconds, matched };
  } finally {
    clearInterval(ticks);
  }
}

const projects = Array.from({ length: 1000 }, (_, index) => ({
  id: `project-${index}`,
  parentId: index < 50 ? 'top' : `project-${index % 50}`,
  name: index < 50 ? `region-${index}` : `service-${index}`,
}));

/** Places all folders, which takes one turn. @returns the processor time in milliseconds */
function placeAll(): number {
  const rule = {
    projectId: 'top',
    environmentPlacement: 'existingSubProject',
    workspaceNaming: 'environmentName',
    rootPath: 'environments',
    repository: 'https://git.example.com/team/all.git',
  } as const;
  const startedAt = threadMilliseconds();
  const all = Array.from(
    { length: folders },
    (_, index) => `environments/region-${index % 50}/service-${index}`,
  );
  const placed = [...placementsOf(all, rule, projects)].filter(([, placement]) => !('reason' in placement));
  const globs = placed.map(([folder]) => deployGlobFor('${envarium_template_dir_path}/**', folder));
  if (globs.length !== folders) throw new Error(`${globs.length} folders have a place`);
  return threadMilliseconds() - startedAt;
}

const environments = 1000;

/** Reads a discovery file and the variable file of each of its environments. @returns the time in milliseconds */
async function readFiles(): Promise<number> {
  const lines = Array.from(
    { length: environments },
    (_, index) => `  e${index}: { <<: *all, name: e${index}, variableFiles: [{ path: e${index}.tfvars }] }`,
  );
  const text = `all: &all { templateName: t, projectName: a|b }\nenvironments:\n${lines.join('\n')}\n`;
  const startedAt = performance.now();
  const { environments: found } = await parseDiscoveryFile(text);
  const paths = found.flatMap(({ variableFiles }) => variableFiles ?? []);
  const files = paths.map((path) => ({ path, text: `name = "${path}"\nzones = ["a", "b"]\n` }));
  const { errors } = await parseVariableFiles(files, new AbortController().signal);
  if (files.length !== environments || errors.length > 0) throw new Error('the discovery file was not read');
  return performance.now() - startedAt;
}

export const matchingBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const rounds = isQuick ? 3 : 20;
  const globs = [
    ['one glob', '**/main.tf', folders, 0],
    ['alternatives and a negation', '!(modules)/+((**/main.tf)|(**/main.tofu))', folders, 0],
    ['all folders excluded, with reasons', '!(environments)/**/main.tf', 0, folders],
  ] as const;
  const figures: Figure[] = [];
  const listed = listing();
  const before = process.memoryUsage.rss();
  let growth: number | undefined;
  for (const [name, globPattern, found, passedOver] of globs) {
    const refusal = await globRefusal(globPattern);
    if (refusal !== null) throw new Error(`globPattern ${refusal}`);
    const watched: WatchedMatch[] = [];
    for (let round = -2; round < rounds; round++) {
      const one = await matchWatched(listed, globPattern);
      if (one.matched.folders.length !== found || one.matched.passedOverCount !== passedOver)
        throw new Error(`${globPattern} matches ${one.matched.folders.length} folders`);
      // Later rounds reuse the memory of the ones before.
      growth ??= one.mostBytes - before;
      if (round >= 0) watched.push(one);
    }
    const series = (value: (one: WatchedMatch) => number) => watched.map(value);
    figures.push(
      figure(
        `${name}: ${files} files`,
        'ms',
        series(({ milliseconds }) => milliseconds),
      ),
      figure(
        `${name}: longest turn of the event loop`,
        'ms',
        series(({ longestTurn }) => longestTurn),
      ),
    );
  }
  figures.push(figure('growth of memory, with the list of files', 'MB', [(growth ?? 0) / 1e6]));
  const placing = Array.from({ length: rounds }, () => placeAll());
  figures.push(figure(`placing ${folders} folders, in one turn`, 'ms', placing));
  const reading: number[] = [];
  for (let round = 0; round < rounds; round++) reading.push(await readFiles());
  figures.push(
    figure(`a discovery file of ${environments} environments, and their variable files`, 'ms', reading),
  );
  return { figures, settings: { rounds, files, folders } };
};
