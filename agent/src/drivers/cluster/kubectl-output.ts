/** Kubectl's output for people: the errors that end a command, and the objects that it has changed. */
import { kubernetesVariableNames } from '#protocol/tools/kubernetes-variables.ts';
import {
  type DiagnosticFinding,
  errorsOf,
  type FirstTexts,
  firstTexts,
  markedLines,
  reasonOf,
  warningsOf,
} from '../interface/diagnostics.ts';
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import { providerName } from './changes.ts';
import { belongsElsewhere, environmentOfManager } from './field-owners.ts';

const { forcesConflicts: forceVariable, waitSeconds: waitVariable } = kubernetesVariableNames;
/** A variable that, set to `true`, has a run make the environment's namespace. */
const createNamespaceVariable = kubernetesVariableNames.createsNamespace;

/** Only this much of the output's end is searched. */
const searchedCharacters = 262_144;
const mostErrors = 10;
const longestErrorCharacters = 2000;
/** Only the beginning of a longer line is read. */
const longestLineCharacters = 4096;

/** The first line of an error; those of several objects follow each other, and only the first has a mark. */
const errorLine =
  /^(?:error: |Error from server|The \S+ ".*" is invalid|The connection to the server |Unable to connect to the server|Warning: Deleting|unable to recognize |resource mapping not found |timed out waiting )/;
/** Events are shown while a command runs. No deployment needs them, and not every user may see them. */
const ofCompanion = /^Error from server \(Forbidden\): events(?:\.events\.k8s\.io)? is forbidden: /;
/** Kubectl's additions to some errors: advice for its own command line. */
const notes = /^(?:Please review the fields above|ensure CRDs are installed first)/;
const partOfError = /^(?:- \.|\* \S+: |conflicts? with ")/;

/** Errors of the kustomize in kubectl are lines of its own log. */
function loggedError(line: string): string | null {
  const quoted = /^E\d{4} .*\] "command failed" err=("(?:[^"\\]|\\.)*")$/.exec(line)?.[1];
  const own = /^Error: (.*accumulat.*)$/.exec(line)?.[1];
  if (own !== undefined) return withoutNesting(own);
  if (quoted === undefined) return null;
  try {
    return withoutNesting((JSON.parse(quoted) as string).trim());
  } catch {
    return null;
  }
}

/** Around each error in a file, kustomize says that the file is not a folder either. */
function withoutNesting(message: string): string {
  const [, file = '', kind = ''] =
    /accumulating resources from '([^']+)': missing metadata\.name in object \{\{\S+ (\S+?)\}/.exec(
      message,
    ) ?? [];
  if (kind === '') return `error: ${message}`;
  return (
    `error: ${file}: ${kind} has no metadata.name: give it one (generateName cannot be used, because it ` +
    'makes another object each time)'
  );
}

function errorsIn(lines: readonly string[]): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    const logged = loggedError(line);
    if (logged !== null) found.push(logged);
    else if (errorLine.test(line) && !line.startsWith('Warning')) {
      found.push(line);
      isOpen = true;
    } else if (isOpen && !notes.test(line) && partOfError.test(line)) {
      found.push(`${found.pop() ?? ''}\n${line}`);
    } else isOpen = false;
  }
  return found;
}

/** Of an object whose fields others manage, kubectl names the object in a warning ahead of the error. */
function conflictingObjects(lines: readonly string[]): string[] {
  const found = lines.flatMap((line) => {
    const [, group = '', kind = '', name = ''] =
      /Object \(([^,\s]*), Kind=(\S+): (.+)\) keeps changing/.exec(line) ?? [];
    return name === '' ? [] : [`${group.replace(/^\//, '')}/${kind}/${name}`];
  });
  return [...new Set(found)];
}

function conflictText(error: string, objects: readonly string[]): string {
  const managers = [...error.matchAll(/conflicts? with "([^"]+)"/g)].map(([, name]) => name);
  const fields = [...error.matchAll(/(?:^- |: )(\.\S+)/gm)].map(([, field]) => field);
  const where = objects.length === 1 ? ` of ${objects[0]}` : '';
  const [owner] = managers.flatMap((name = '') => environmentOfManager(name) ?? []);
  if (owner !== undefined) return belongsElsewhere(cut(objects.join(', ')) || 'an object', owner);
  const who = [...new Set(managers)].map((name) => JSON.stringify(name)).join(', ');
  return (
    `${fields.join(', ')}${where}: managed by ${who || 'an unnamed manager'}, and with another value there than here. ` +
    `Remove the field from the manifest, or set the variable ${forceVariable} to true to take it over`
  );
}

const remedies: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /must be logged in to the server|\(Unauthorized\)|asked for the client to provide credentials/,
    'the cluster does not accept the token or certificate of the kubeconfig: it is wrong or has expired; renew it',
  ],
  [
    /connection to the server .* was refused|Unable to connect to the server|dial tcp |no such host/,
    'the cluster of the kubeconfig cannot be reached from this agent',
  ],
  [
    /namespaces ".*" not found/,
    `declare the namespace in the manifests, or set the variable ${createNamespaceVariable} to true to have it created`,
  ],
  [/because it is being terminated/, 'wait until the namespace is gone, and deploy again'],
  [
    /no matches for kind/,
    'the cluster has no such kind: correct apiVersion and kind, or install its definition (CustomResourceDefinition) first',
  ],
  [
    /field is immutable/,
    'the cluster cannot change this field: give the object another name, or delete it first',
  ],
];

const timedOut = /timed out waiting for the condition/;

function cut(text: string): string {
  return text.length <= longestErrorCharacters ? text : `${text.slice(0, longestErrorCharacters)}…`;
}

/** Objects for which a command still waited when its time was over; empty if the output does not contain them. */
function waitedFor(lines: readonly string[]): string {
  const waited = new Map<string, string>();
  for (const line of lines) {
    const [, text = ''] = /^Waiting for (.+ .*)$/.exec(line) ?? [];
    const [object = ''] = /^\S+ "[^"]+"(?= )|^\S+/.exec(text) ?? [];
    if (text !== '') waited.set(object, text.replace(/(?<!\.)\.+$/, ''));
    const [, done] = /^(\S+ "[^"]+") successfully rolled out/.exec(line) ?? [];
    if (done !== undefined) waited.delete(done);
  }
  return cut([...waited.values()].join('; '));
}

function timeoutText(error: string, waited: string): string {
  const what = waited === '' ? cut(error.replace(/^error: /, '')) : `not in time: ${waited}`;
  return `${what}\n(correct what it waits for, or allow more time in the variable ${waitVariable})`;
}

/** Rest of the output besides its errors, which explains them. */
interface ErrorContext {
  readonly objects: readonly string[];
  readonly waited: string;
}

function explained(error: string, { objects, waited }: ErrorContext): string {
  if (timedOut.test(error)) return timeoutText(error, waited);
  if (/Apply failed with \d+ conflict/.test(error)) return conflictText(cut(error), objects);
  const plain = cut(error)
    .replace(/error when \w+ing "STDIN": /, '')
    .replace(/^error: (?:unable to recognize (?!"))?/, '')
    .replace(/^unable to recognize (?!")/, '');
  const remedy = remedies.find(([pattern]) => pattern.test(error))?.[1] ?? '';
  return remedy === '' ? plain : `${plain}\n(${remedy})`;
}

function searchedLines(output: string): string[] {
  return output
    .slice(-searchedCharacters)
    .split(/\r?\n/)
    .filter((line) => !ofCompanion.test(line))
    .map((line) => line.slice(0, longestLineCharacters));
}

/** The errors in the output of a command, one for each object, in the words of kubectl. */
export function kubectlErrors(output: string): string[] {
  return [...new Set(errorsIn(searchedLines(output)))];
}

/** The first error in the output of a step, and how many more there are. @returns null if there is none */
export function kubectlReason(output: string): string | null {
  const { texts, unlisted } = explainedErrors(output);
  return reasonOf(errorsOf(texts), unlisted);
}

/** The same, and below it what up to nine of the others are: for a reason that is shown without diagnostics. */
export function allKubectlErrors(output: string): string | null {
  const { texts, unlisted } = explainedErrors(output);
  const findings = errorsOf(texts);
  const others = findings.map(({ text }) => text).slice(1, mostErrors);
  const reason = reasonOf(findings, unlisted);
  return reason === null ? null : [reason, ...others].join('\n');
}

/** One for each object. */
function explainedErrors(output: string): FirstTexts {
  const lines = searchedLines(output);
  const { texts, unlisted } = firstTexts(errorsIn(lines));
  const context = { objects: conflictingObjects(lines), waited: waitedFor(lines) };
  return { texts: texts.map((error) => explained(error, context)), unlisted };
}

/** No line about an object is longer. */
const longestLineBytes = 2048;

const verbs: Readonly<Record<string, ProgressEvent['action']>> = {
  created: 'create',
  configured: 'update',
  'serverside-applied': 'update',
  deleted: 'delete',
};

/** `deployment.apps/web serverside-applied` and `deployment.apps "web" deleted from shop namespace`. */
function eventOf(line: string): ProgressEvent | null {
  const applied = /^([a-z][a-z0-9.-]*)\/(\S+) ([a-z-]+)$/.exec(line);
  const deleted = /^([a-z][a-z0-9.-]*) "(\S+)" (deleted)(?: from \S+ namespace)?$/.exec(line);
  const [, type = '', name = '', verb = ''] = applied ?? deleted ?? [];
  const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (action === undefined) return null;
  const address = `${type}/${name}`;
  return { address, provider: providerName, type, name, moduleName: '', status: 'done', action };
}

/** Creates a reader of the output of `kubectl apply` and `kubectl delete`. Addresses are as kubectl prints them. */
export function kubectlProgress(): ProgressReader {
  return progressOfLines(longestLineBytes, (line) => eventOf(line.trimEnd()));
}

/** Warnings of the cluster, such as deprecated kinds: kubectl prints them, helm logs them. */
const clusterWarning = /^(?:Warning: |WARNING: |[WI]\d{4} .*?\bwarnings\.go:\d+\] )/;

/** Whether a line is one of them. */
export function isClusterWarning(line: string): boolean {
  return clusterWarning.test(line);
}

/** Newer versions log a warning in quotes, with its mark. */
function withoutQuotes(text: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/.test(text)) return text;
  try {
    return (JSON.parse(text) as string).replace(/^Warning: /, '');
  } catch {
    return text.slice(1, -1).replace(/^Warning: /, '');
  }
}

/** Warnings of the cluster, without the notes of kubectl about its own work. */
export function clusterWarnings(output: string): DiagnosticFinding[] {
  const shown = output.slice(-searchedCharacters);
  const texts = markedLines(shown, clusterWarning).map(withoutQuotes);
  return warningsOf(texts.filter((text) => !/^Deleting|keeps changing/.test(text)));
}

/** Each error of kubectl, and the warnings of the cluster. */
export function kubectlDiagnostics(output: string): DiagnosticFinding[] {
  return [...errorsOf(explainedErrors(output).texts), ...clusterWarnings(output)];
}
