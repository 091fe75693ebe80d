/** Variables that runs of Pulumi treat in a special way, or cannot have. */

/** Either names a backend of the user's own, which then keeps the state. */
export const backendVariables = ['PULUMI_BACKEND_URL', 'PULUMI_ACCESS_TOKEN'] as const;

/** Encryption key of the secrets of a stack, and the file that contains it. */
export const passphraseVariable = 'PULUMI_CONFIG_PASSPHRASE';
export const passphraseFileVariable = 'PULUMI_CONFIG_PASSPHRASE_FILE';

const set = 'runs set it themselves';
const reserved: Readonly<Record<string, string>> = {
  PULUMI_STACK: "the stack is the environment's workspaceName",
  PULUMI_HOME: set,
  PULUMI_DEBUG_COMMANDS: set,
  PULUMI_SKIP_CHECKPOINTS: 'a stopped run could not record what it has created',
  PULUMI_CONTINUE_ON_ERROR: 'a run ends with the first error',
  PULUMI_DISABLE_VALIDATION: 'the state could be damaged unnoticed',
  PULUMI_DIY_BACKEND_GZIP: 'the service reads the state',
  PULUMI_SELF_MANAGED_STATE_GZIP: 'the service reads the state',
  PULUMI_DIY_BACKEND_ZSTD: 'the service reads the state',
  PULUMI_SELF_MANAGED_STATE_ZSTD: 'the service reads the state',
  PULUMI_DIY_BACKEND_LEGACY_LAYOUT: 'the service reads the state',
  PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT: 'the service reads the state',
};

/** Options of all commands that change neither what a plan says nor what is shown of secrets. */
const harmlessOptions = /^PULUMI_OPTION_(COLOR|EMOJI|PARALLEL|SHOW_SAMES|SHOW_READS|SUPPRESS_OUTPUTS)$/;

/** Why no run of Pulumi can have an environment variable; null if it can. */
export function pulumiVariableProblem(name: string): string | null {
  if (name.startsWith('PULUMI_OPTION_') && !harmlessOptions.test(name))
    return `${name} cannot be set: runs choose the options of Pulumi; remove the variable`;
  const why = Object.hasOwn(reserved, name) ? reserved[name] : undefined;
  return why === undefined ? null : `${name} cannot be set: ${why}; remove the variable`;
}

/** Why a name is not that of a value of a stack's configuration; null if it is. */
export function configKeyProblem(name: string): string | null {
  if (/^([A-Za-z][A-Za-z0-9_.-]{0,99}:)?[A-Za-z_][A-Za-z0-9_.-]{0,199}$/.test(name)) return null;
  return `${JSON.stringify(name)} is not a key of a configuration of Pulumi: letters, digits, _, - and ., with a namespace and a colon before it if it is not the project's, such as aws:region`;
}

/** Why a name is not that of a stack, as the rest of a sentence; null if it is. */
export function stackNameProblem(name: string): string | null {
  if (/^[A-Za-z0-9_.-]{1,100}$/.test(name)) return null;
  return 'is the name of the stack, which has at most 100 letters, digits, _, - and .: set another one';
}
