/**
 * For tests: an index of Python packages with wheels that are made here. It can send false answers, and counts
 * requests.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zipOf } from '../archives.ts';

export interface Wheel {
  /** As in the index, such as `ansible-core`. */
  readonly project: string;
  readonly version: string;
  /** Names of its programs; each prints the lines of `ansible-playbook --version`, */
  readonly programs?: readonly string[];
  /** and passes other calls to the program of the same name in this folder. */
  readonly passesTo?: string;
  /** Requirement, such as `ansible-core==2.17.1`. */
  readonly needs?: readonly string[];
  /** Versions of Python that it runs on. */
  readonly python?: string;
  readonly isYanked?: boolean;
  /** A module that is run whenever Python starts in its environment. */
  readonly startsWith?: string;
  readonly lie?: 'other bytes' | 'truncated' | 'no file' | 'slow' | 'only source';
}

function moduleName({ project }: Wheel): string {
  return project.replaceAll('-', '_');
}

export function wheelFile(wheel: Wheel): string {
  const ending = wheel.lie === 'only source' ? '.tar.gz' : '-py3-none-any.whl';
  return `${moduleName(wheel)}-${wheel.version}${ending}`;
}

/** The bytes of a wheel. */
export function wheelOf(wheel: Wheel): Buffer {
  const { project, version, programs = [], needs = [], startsWith, passesTo } = wheel;
  const name = moduleName(wheel);
  const info = `${name}-${version}.dist-info`;
  const main = [
    'import os, sys',
    'def main():',
    ...(passesTo === undefined
      ? []
      : [
          '    if sys.argv[1:] != ["--version"]:',
          `        os.execv(os.path.join(${JSON.stringify(passesTo)}, os.path.basename(sys.argv[0])), sys.argv)`,
        ]),
    `    print("ansible-playbook [core ${version}]")`,
    '    print("  python version = " + sys.version)',
  ];
  const files: Record<string, string> = {
    [`${name}_made.py`]: `${main.join('\n')}\n`,
    [`${info}/METADATA`]: [
      'Metadata-Version: 2.1',
      `Name: ${project}`,
      `Version: ${version}`,
      ...needs.map((need) => `Requires-Dist: ${need}`),
      '',
    ].join('\n'),
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/entry_points.txt`]: `[console_scripts]\n${programs.map((each) => `${each} = ${name}_made:main\n`).join('')}`,
    ...(startsWith === undefined
      ? {}
      : { [`${name}.pth`]: `import ${name}_start\n`, [`${name}_start.py`]: startsWith }),
  };
  const record = [...Object.keys(files), `${info}/RECORD`].map((each) => `${each},,\n`).join('');
  const all = { ...files, [`${info}/RECORD`]: record };
  return zipOf(
    Object.entries(all).map(([each, text]) => ({ name: each, content: Buffer.from(text), mode: 0o100644 })),
  );
}

/** A core with its programs, and a community's package of the same or another version that needs it. */
export function ansibleWheels(core: string, ...community: readonly string[]): Wheel[] {
  return [
    { project: 'ansible-core', version: core, programs: ['ansible-playbook', 'ansible-galaxy'] },
    ...community.map((version) => ({ project: 'ansible', version, needs: [`ansible-core==${core}`] })),
  ];
}

export interface PythonIndex extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/simple`. */
  readonly url: string;
  readonly requests: string[];
}

/**
 * Starts an index on a free port.
 * @param authorization the header that every request must contain; absent: none
 */
export async function startPythonIndex(
  wheels: readonly Wheel[],
  { authorization }: { authorization?: string } = {},
): Promise<PythonIndex> {
  const requests: string[] = [];

  function pageOf(project: string): string {
    const links = wheels
      .filter((wheel) => wheel.project === project)
      .map((wheel) => {
        const sha256 = createHash('sha256').update(wheelOf(wheel)).digest('hex');
        const python =
          wheel.python === undefined
            ? ''
            : ` data-requires-python="${wheel.python.replaceAll('>', '&gt;').replaceAll('<', '&lt;')}"`;
        const yanked = wheel.isYanked ? ' data-yanked=""' : '';
        return `<a href="/files/${wheelFile(wheel)}#sha256=${sha256}"${python}${yanked}>${wheelFile(wheel)}</a><br/>\n`;
      });
    return `<!DOCTYPE html><html><body>\n${links.join('')}</body></html>\n`;
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    requests.push(path);
    if (authorization !== undefined && request.headers.authorization !== authorization)
      return void response.writeHead(401).end();
    const project = /^\/simple\/([^/]+)\/$/.exec(path)?.[1];
    if (project !== undefined) {
      if (!wheels.some((wheel) => wheel.project === project)) return void response.writeHead(404).end();
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(project));
    }
    const wheel = wheels.find((each) => path === `/files/${wheelFile(each)}`);
    if (wheel === undefined || wheel.lie === 'no file') return void response.writeHead(404).end();
    const bytes = wheelOf(wheel);
    if (wheel.lie === 'other bytes') return void response.end(wheelOf({ ...wheel, needs: ['hostile'] }));
    if (wheel.lie === 'truncated') return void response.end(bytes.subarray(0, bytes.length - 30));
    if (wheel.lie !== 'slow') return void response.end(bytes);
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 20));
  }

  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
