/** The files that a run on Kubernetes writes, and how its manifests are rendered. */

import { stringify } from 'yaml';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { readKubernetesVariables } from '#protocol/tools/kubernetes-variables.ts';
import { clusterFile } from '../cluster/cluster.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { Command } from '../interface/command.ts';
import type { DriverContext, FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { variableTexts } from '../terraform/variable-texts.ts';

/** With one of these, a folder says itself what its manifests are. */
export const kustomizationNames = /^(kustomization\.ya?ml|Kustomization)$/;
const manifestNames = /^[^.].*\.(ya?ml|json)$/;
/** Files of ours, and of custom flows. */
const otherNames = /^envarium\./;

export const variablesFileName = 'envarium.env';

function emptyProblem({ source }: Job): string {
  const where = source.path ? `path ${JSON.stringify(source.path)}` : 'the root';
  return `No manifests: ${where} of ${source.repository} has neither a kustomization nor a .yaml, .yml or .json file; set path to the folder that contains them`;
}

async function hasKustomization(tree: TreeReader): Promise<boolean> {
  return (await tree.list('')).some((name) => kustomizationNames.test(name));
}

/**
 * Result of `kustomize create --autodetect` in a folder without a kustomization. @throws an Error without
 * manifests
 */
async function manifestList({ job, tree }: DriverContext): Promise<FileToWrite[]> {
  if (job.type === 'destroy' || job.phase === 'apply' || (await hasKustomization(tree))) return [];
  const names = (await tree.list(''))
    .filter((name) => manifestNames.test(name) && !otherNames.test(name))
    .sort();
  if (names.length === 0) throw new Error(emptyProblem(job));
  const content = stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: names,
  });
  return [{ name: 'kustomization.yaml', content, isSecret: false }];
}

/** A line of the variables' file; null for a value of several lines, which such a file cannot hold. */
function lineOf(name: string, value: string): string | null {
  return /[\r\n]/.test(value) ? null : `${name}=${value}`;
}

/** @throws an Error that names a variable whose value does not match its format */
async function variableFiles({ job: { variables }, tree }: DriverContext): Promise<FileToWrite[]> {
  const isThere = variables.terraform.length === 0 && (await tree.list('')).includes(variablesFileName);
  // Kustomizations name the file, whether there are variables or not.
  if (isThere) return [];
  const texts = await variableTexts(variables.terraform);
  const values = variables.terraform.map(
    ({ name, value, format }) => [name, format === undefined ? value : (texts.get(name) ?? '')] as const,
  );
  const lines = values.flatMap(([name, value]) => lineOf(name, value) ?? []);
  const one = values.map(([name, content]) => ({
    name: `${ownFolder}/variables/${name}`,
    content,
    isSecret: true,
  }));
  const content = lines.map((line) => `${line}\n`).join('');
  return [{ name: variablesFileName, content, isSecret: true }, ...one];
}

/** @throws an Error for people */
export async function files(context: DriverContext): Promise<FileToWrite[]> {
  const { job } = context;
  const { namespace } = readKubernetesVariables(runEnvironment(job));
  return [
    await clusterFile(context, namespace),
    ...(await variableFiles(context)),
    ...(await manifestList(context)),
  ];
}

/** A variable that chooses a version of the program kustomize, which is used instead of the one in kubectl. */
const kustomizeVariable = 'ENVARIUM_KUSTOMIZE_VERSION';

/** Renders the manifests of the folder. Plugins that start programs, and charts of helm, stay off. */
export function renderCommand({ job }: DriverContext, step: string, captureTo: string): Command {
  const hasOwn = Boolean(runEnvironment(job)[kustomizeVariable]?.trim());
  const program = hasOwn ? 'kustomize' : 'kubectl';
  return {
    step,
    program,
    label: hasOwn ? 'kustomize build' : 'kubectl kustomize',
    args: [hasOwn ? 'build' : 'kustomize', '.'],
    captureTo,
    loadsModules: true,
  };
}
