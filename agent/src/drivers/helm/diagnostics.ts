/** The errors of helm, and what to do about them. */

import { clusterWarnings, isClusterWarning, kubectlDiagnostics } from '../cluster/kubectl-output.ts';
import { type DiagnosticFinding, errorsOf, reasonOf } from '../interface/diagnostics.ts';

/** Only this much of the output's end is searched. */
const searchedCharacters = 262_144;
const longestMessage = 4000;

/** A value of a variable without a format is text, also where it looks like a number. */
function valuesRemedy(message: string): string {
  const found = [...message.matchAll(/^ *- at '\/([^']*)': got string, want .*$/gm)].map(([, path = '']) =>
    pathOf(path),
  );
  const names = [...new Set(found)];
  if (names.length === 0) return 'correct the variables that set these values';
  return (
    `a variable without a format is text: set ${names.join(', ')} with the format JSON, which the command line does with ` +
    `--json-var ${names[0]}=…`
  );
}

/** The path of a value as variables are named: without elements of lists, which no variable sets alone. */
function pathOf(pointer: string): string {
  const parts = pointer.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const element = parts.findIndex((part) => /^\d+$/.test(part));
  const keys = element === -1 ? parts : parts.slice(0, element);
  return keys.map((key) => key.replaceAll('.', '\\.')).join('.');
}

type Remedy = string | ((message: string) => string);

const remedies: readonly (readonly [pattern: RegExp, remedy: Remedy])[] = [
  [
    /invalid ownership metadata|cannot be imported into the current release/,
    'the object exists and does not belong to this release: delete or rename it, or take it over with --take-ownership in ' +
      'ENVARIUM_HELM_CLI_ARGS_upgrade',
  ],
  [
    /no matches for kind/,
    'the cluster has no such kind: correct apiVersion and kind, or install its definition first',
  ],
  [/values don't meet the specifications of the schema/, valuesRemedy],
  [
    /401 Unauthorized|unauthorized: |403 Forbidden|basic credential not found/,
    'the chart repository refuses the credentials: check ENVARIUM_HELM_REPO_USERNAME and ENVARIUM_HELM_REPO_PASSWORD',
  ],
  [
    /must be logged in to the server|\bUnauthorized\b|the server has asked for the client to provide credentials/,
    'the cluster does not accept the token or certificate of the kubeconfig: it is wrong or has expired; renew it',
  ],
  [
    /cluster unreachable|connection refused|no such host|i\/o timeout/i,
    'the address of the cluster or chart repository cannot be reached from this agent',
  ],
  [
    /x509: |certificate signed by unknown authority/,
    "the certificate is not trusted by the agent's machine: correct the address, or set ENVARIUM_CA_FILE of the agent to a file " +
      'with the certificate of its authority',
  ],
  [/because it is being terminated/, 'wait until the namespace is gone, and deploy again'],
  [
    /context deadline exceeded|timed out waiting for the condition/,
    'the time limit of helm (--timeout) has passed: the run derives it from its own time limit, and a shorter one can be set ' +
      'in ENVARIUM_HELM_CLI_ARGS_upgrade; what was waited for is in the log',
  ],
  [
    /chart "[^"]*" (?:version "[^"]*" )?(?:matching [^"]{0,200} )?not found|no chart (?:name|version) found/,
    'check helmChartName and revision',
  ],
  [
    /another operation \(install\/upgrade\/rollback\) is in progress/,
    'another program works on this release: wait for its end',
  ],
];

function explained(message: string): string {
  const cut = message.length <= longestMessage ? message : `${message.slice(0, longestMessage)}…`;
  const remedy = remedies.find(([pattern]) => pattern.test(message))?.[1];
  if (remedy === undefined) return cut;
  return `${cut}\n(${typeof remedy === 'string' ? remedy : remedy(message)})`;
}

/** With `--debug`, helm adds where in its own code an error was made. */
const ownCode = /^helm\.go:\d+: /;

/** Of repositories that cannot be read, helm says the reasons ahead of its error. */
function whyNoIndex(lines: readonly string[], message: string): string[] {
  const found = lines.flatMap((line, index) =>
    line.includes('Unable to get an update from')
      ? [`Error: ${line.replace(/^\.+/, '')} ${(lines[index + 1] ?? '').trim()}`]
      : [],
  );
  return found.length === 0 ? [message] : [...new Set(found)];
}

/** The last error of helm in the output of a step, or else those of kubectl, and the warnings of both. */
export function helmDiagnostics(output: string): DiagnosticFinding[] {
  const lines = output.slice(-searchedCharacters).split(/\r?\n/);
  const start = lines.findLastIndex((line) => line.startsWith('Error: '));
  if (start === -1) return kubectlDiagnostics(output);
  const end = lines.findIndex((line, index) => index > start && ownCode.test(line));
  const own = lines.slice(start, end === -1 ? undefined : end).filter((line) => !isClusterWarning(line));
  const message = own.join('\n').trim();
  const hasNoIndex = /failed to update the following repositories|no cached repository for /i.test(message);
  const errors = hasNoIndex ? whyNoIndex(lines, message) : [message];
  return [...errorsOf(errors.map(explained)), ...clusterWarnings(output)];
}

/** The first error, and how many more there are. @returns null if there is none */
export function helmReason(output: string): string | null {
  return reasonOf(helmDiagnostics(output));
}
