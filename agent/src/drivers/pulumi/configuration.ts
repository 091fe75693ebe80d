/** The configuration of a stack: what the code has committed, and the variables of the run. */
import { type Document, isMap, parseDocument } from 'yaml';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isSameKey, withExactNumbers } from '#guards/exact-yaml.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { type DriverContext, type FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { variableTexts } from '../terraform/variable-texts.ts';
import { encryptionSalt, passphraseOf } from './backend.ts';
import { type PulumiProject, readProject } from './project.ts';
import { saltOf } from './state.ts';

/** A variable whose value is not shared: it becomes a secret of the stack. */
export function isSecret({ isSensitive, reference }: JobVariable): boolean {
  return isSensitive || reference !== undefined;
}

/** The path of the configuration of a stack, relative to the project. */
function stackFile(project: Pick<PulumiProject, 'configurationFolder'>, stack: string): string {
  const name = `Pulumi.${stack}.yaml`;
  return project.configurationFolder === '' ? name : `${project.configurationFolder}/${name}`;
}

/**
 * Committed content of the file of the stack. That file itself gets values of the run, so that an apply
 * elsewhere does not get it.
 */
const committedFile = `${ownFolder}/committed-stack.yaml`;

/** In a plan, only the code counts, whatever it has under the other name. */
async function committedText({ job, tree }: DriverContext, file: string): Promise<string> {
  const kept = job.phase === 'apply' ? await tree.text(committedFile) : null;
  return kept ?? (await tree.text(file)) ?? '';
}

function parsed(file: string, text: string): Document {
  const document = parseDocument(text, {
    merge: true,
    intAsBigInt: true,
    customTags: withExactNumbers,
    uniqueKeys: isSameKey,
  });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`${file} is not valid: ${error.message}`);
  if (document.contents === null) document.contents = document.createNode({}) as never;
  if (!isMap(document.contents)) throw new Error(`${file} is not valid: it must be a map`);
  return document;
}

function qualified(project: PulumiProject, key: string): string {
  return key.includes(':') ? key : `${project.name}:${key}`;
}

/** Of a key in two forms, Pulumi takes one or the other by chance. */
function formsOf(project: PulumiProject, key: string): string[] {
  const full = qualified(project, key);
  const own = `${project.name}:`;
  return full.startsWith(own) ? [full, full.slice(own.length)] : [full];
}

/** Values without secrets, which commands add in an encrypted form. */
async function plainValues(variables: readonly JobVariable[]): Promise<Map<string, unknown>> {
  const texts = await variableTexts(variables.filter((variable) => !isSecret(variable)));
  return new Map([...texts].map(([name, text]) => [name, parseExactly(text)]));
}

/**
 * The file of the stack with the variables of the run, which replace what the code has under the same keys; and what
 * the code has.
 * @throws an Error that names the file or the variable that cannot be used
 */
export async function configurationFiles(context: DriverContext): Promise<FileToWrite[]> {
  const { job, tree, stateFolder } = context;
  const project = await readProject(tree);
  const name = stackFile(project, job.workspaceName);
  const committed = await committedText(context, name);
  const document = parsed(name, committed);
  const isEncrypted = document.has('encryptionsalt') || document.has('secretsprovider');
  const passphrase = stateFolder === null ? null : await passphraseOf(job, tree);
  if (passphrase !== null && !isEncrypted) {
    // Pulumi compares the passphrase with it in each command.
    const known = saltOf(context.currentState?.() ?? undefined);
    document.set('encryptionsalt', known ?? (await encryptionSalt(job.environmentId, passphrase)));
  }
  if (!isMap(document.get('config'))) document.set('config', document.createNode({}));
  for (const variable of job.variables.terraform)
    for (const key of formsOf(project, variable.name)) document.deleteIn(['config', key]);
  for (const [key, value] of await plainValues(job.variables.terraform))
    document.setIn(['config', qualified(project, key)], document.createNode(value));
  return [
    { name: committedFile, content: committed, isSecret: false },
    { name, content: document.toString({ lineWidth: 0 }), isSecret: true },
  ];
}

/**
 * The texts of the values that become secrets, by the names of their variables.
 * @throws an Error that names the variable whose value does not match its format
 */
export async function secretValues(variables: readonly JobVariable[]): Promise<Map<string, string>> {
  const secrets = variables.filter(isSecret);
  const texts = await variableTexts(secrets);
  return new Map(
    secrets.map(({ name, value, format }) => [
      name,
      format === undefined ? value : (texts.get(name) ?? value),
    ]),
  );
}
