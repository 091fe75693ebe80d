/**
 * Arguments that users add to helm, as one text, and the variables that they are in. They may not move the
 * release, change what a deployment is, bring values past the plan, or hide the output that a run reads.
 * What is allowed is listed, because helm understands most options in several spellings.
 */
import { splitArguments } from '../inputs/terraform-arguments.ts';

/** Names of the variables with arguments. Those for `diff` belong to a plugin that no run uses. */
export const helmArgumentNames = {
  all: 'ENVARIUM_HELM_CLI_ARGS',
  diff: 'ENVARIUM_HELM_CLI_ARGS_diff',
  upgrade: 'ENVARIUM_HELM_CLI_ARGS_upgrade',
  uninstall: 'ENVARIUM_HELM_CLI_ARGS_uninstall',
} as const;

type HelmVerb = 'upgrade' | 'uninstall';

/** An option, whether the next word is its value, and where it is understood. */
interface HelmOption {
  readonly takesValue: boolean;
  readonly verbs: readonly HelmVerb[];
  /** It changes what the chart renders to. */
  readonly renders?: true;
}

const upgrade = { takesValue: false, verbs: ['upgrade'] } as const satisfies HelmOption;
const both = { takesValue: false, verbs: ['upgrade', 'uninstall'] } as const satisfies HelmOption;

const options: Readonly<Record<string, HelmOption>> = {
  '--atomic': upgrade,
  '--burst-limit': { ...both, takesValue: true },
  '--cascade': { takesValue: true, verbs: ['uninstall'] },
  '--cleanup-on-fail': upgrade,
  '--description': { ...both, takesValue: true },
  '--disable-openapi-validation': { ...upgrade, renders: true },
  '--enable-dns': { ...upgrade, renders: true },
  '--force': upgrade,
  '--history-max': { ...upgrade, takesValue: true },
  '--no-hooks': both,
  '--qps': { ...both, takesValue: true },
  '--skip-crds': { ...upgrade, renders: true },
  '--skip-schema-validation': { ...upgrade, renders: true },
  '--take-ownership': upgrade,
  '--timeout': { ...both, takesValue: true },
  '--wait': both,
  '--wait-for-jobs': upgrade,
};

const values = 'values come from the variables of the environment and from ENVARIUM_HELM_VALUES_FILES';
const target = "the cluster is the environment's";
const output = "the run reads helm's output";

/** Why well-known options are not among those that are allowed. */
const reasons: Readonly<Record<string, string>> = {
  '--kubeconfig': target,
  '--kube-context': target,
  '--kube-apiserver': target,
  '--kube-token': target,
  '--namespace': 'the namespace is that of ENVARIUM_K8S_NAMESPACE',
  '-n': 'the namespace is that of ENVARIUM_K8S_NAMESPACE',
  '--create-namespace': 'ENVARIUM_K8S_CREATE_NAMESPACE creates it',
  '--post-renderer': 'it would start a program that changes what was planned',
  '--post-renderer-args': 'it would start a program that changes what was planned',
  '--set': values,
  '--set-string': values,
  '--set-json': values,
  '--set-file': values,
  '--set-literal': values,
  '--values': values,
  '-f': values,
  '--reuse-values': values,
  '--reset-then-reuse-values': values,
  '--dry-run': 'the deployment type determines it',
  '--install': 'the deployment type determines it',
  '--keep-history': 'a destroyed environment leaves no release',
  '--labels': 'labels say which environment a release belongs to',
  '-l': 'labels say which environment a release belongs to',
  '--output': output,
  '-o': output,
  '--debug': 'it would write values into the log',
  '--version': 'the version is the revision of the template',
  '--username': 'others can read arguments: use ENVARIUM_HELM_REPO_USERNAME',
  '--password': 'others can read arguments: use ENVARIUM_HELM_REPO_PASSWORD',
};

interface OptionWords {
  readonly option: string;
  /** The option with its value, as helm receives it. */
  readonly words: readonly string[];
}

function isVerbOption(option: HelmOption | undefined, verbs: readonly HelmVerb[]): option is HelmOption {
  return option !== undefined && option.verbs.some((verb) => verbs.includes(verb));
}

function optionOf(name: string): HelmOption | undefined {
  return Object.hasOwn(options, name) ? options[name] : undefined;
}

/** @throws Error with a sentence without its subject, and without any value */
function readOptions(text: string, verbs: readonly HelmVerb[]): OptionWords[] {
  const words = splitArguments(text);
  const found: OptionWords[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const [name = ''] = word.split('=', 1);
    const option = optionOf(name);
    if (!isVerbOption(option, verbs)) throw new Error(refusalOf(name, verbs));
    const next = words[index + 1];
    if (!option.takesValue || word.includes('=')) found.push({ option: name, words: [word] });
    else {
      if (next === undefined) throw new Error(`${name} needs a value`);
      // In one word: helm can take no value for another option then.
      found.push({ option: name, words: [`${name}=${next}`] });
      index += 1;
    }
  }
  return found;
}

function refusalOf(name: string, verbs: readonly HelmVerb[]): string {
  if (!name.startsWith('-')) return 'only options are allowed, and one of its words does not begin with -';
  const known = Object.keys(reasons).find(
    (reason) => reason === name || (name.length > 2 && isCluster(name, reason)),
  );
  const why = known === undefined ? '' : `, because ${reasons[known]}`;
  const allowed = Object.keys(options).filter((each) => isVerbOption(optionOf(each), verbs));
  return `${known ?? shown(name)} is not allowed${why}; remove it (allowed are ${allowed.join(', ')})`;
}

/** Short options may be written together, and with their values. */
function isCluster(name: string, reason: string): boolean {
  return /^-[^-]/.test(name) && reason.length === 2 && name.startsWith(reason);
}

/** The name of an option, without what might be a value behind it. */
function shown(name: string): string {
  return /^--?[a-z][a-z-]{0,40}$/.test(name) ? name : 'one of its options';
}

const verbsOf: Readonly<Record<string, readonly HelmVerb[]>> = {
  [helmArgumentNames.all]: ['upgrade', 'uninstall'],
  [helmArgumentNames.upgrade]: ['upgrade'],
  [helmArgumentNames.uninstall]: ['uninstall'],
};

/** Says why a variable with arguments cannot be used, or null if it can; any other variable can. */
export function helmArgumentsProblem(name: string, value: string): string | null {
  const verbs = Object.hasOwn(verbsOf, name) ? verbsOf[name] : undefined;
  if (verbs === undefined) return null;
  try {
    readOptions(value, verbs);
    return null;
  } catch (error) {
    return `${name}: ${(error as Error).message}`;
  }
}

/**
 * The words that users add to a command.
 * @param part `rendering`: only those that change what a chart renders to, as `helm template` understands
 * them
 * @throws Error where a value was not checked by `helmArgumentsProblem`
 */
export function helmArguments(
  environment: Readonly<Record<string, string>>,
  verb: HelmVerb,
  part: 'all' | 'rendering' = 'all',
): string[] {
  const forAll = readOptions(environment[helmArgumentNames.all] ?? '', ['upgrade', 'uninstall']);
  const own = readOptions(environment[helmArgumentNames[verb]] ?? '', [verb]);
  return [...forAll, ...own]
    .filter(({ option }) => optionOf(option)?.verbs.includes(verb))
    .filter(({ option }) => part === 'all' || optionOf(option)?.renders === true)
    .flatMap(({ words }) => words);
}
