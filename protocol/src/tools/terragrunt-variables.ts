/** Environment variables that change what a run of terragrunt does. */
import { listOf, pathsProblem } from './inputs/run-variables.ts';

const names = {
  includeDirs: 'ENVARIUM_TERRAGRUNT_RUN_ALL_INCLUDE_DIRS',
} as const;

/** Of the tool itself; all others would move what a run reads and writes, or change which units it has. */
const allowed =
  /^TG_(PARALLELISM|FEATURE|FAIL_FAST|NO_AUTO_RETRY|SOURCE_MAP|SOURCE_UPDATE|IAM_ASSUME_ROLE(_[A-Z_]+)?|AUTH_PROVIDER_CMD|BACKEND_BOOTSTRAP|BACKEND_REQUIRE_BOOTSTRAP|DISABLE_BUCKET_UPDATE|NO_CAS|CAS_CLONE_DEPTH|STRICT_(CONTROL|MODE)|EXPERIMENT(_MODE)?|DEPENDENCY_FETCH_OUTPUT_FROM_STATE|USE_PARTIAL_PARSE_CONFIG_CACHE|VERSION_MANAGER_FILE_NAME|NO_COLOR|NO_TIPS?|LOG_LEVEL|LOG_SHOW_ABS_PATHS|SUMMARY_[A-Z_]+|TELEMETRY_[A-Z_]+)$/;

/** Former names, which the tool still reads: of those that are allowed, and of others. */
const formerName = /^TERRAGRUNT_(?=.)/;
const formerlyAllowed = /^TERRAGRUNT_(IAM_ROLE|IAM_WEB_IDENTITY_TOKEN|AUTH_PROVIDER_COMMAND)$/;

function isAllowed(name: string): boolean {
  return allowed.test(name.replace(formerName, 'TG_')) || formerlyAllowed.test(name);
}

/** Units, or folders of units, that a run of all units is limited to; none: all. */
export function includedFolders(environment: Readonly<Record<string, string>>): string[] {
  return listOf(environment[names.includeDirs]).map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''));
}

/** Why a variable cannot be used, as a text that begins with its name; null if it can. */
export function terragruntVariableProblem(name: string, value: string): string | null {
  if (name === names.includeDirs) {
    const problem = pathsProblem(listOf(value));
    const hasBraces = /[{}!]/.test(value) && !value.includes('${');
    if (problem !== null) return `${name}: ${problem}`;
    return hasBraces
      ? `${name}: folders, separated by commas; *, ** and ? are allowed, and {, } and ! are not`
      : null;
  }
  if (!name.startsWith('TG_') && !formerName.test(name)) return null;
  if (!isAllowed(name)) return `${name} cannot be set: the run determines it; remove the variable`;
  if (
    /^(TG|TERRAGRUNT)_LOG_LEVEL$/.test(name) &&
    !/^(warn|info|debug|trace|)$/.test(value) &&
    !value.includes('${')
  )
    return `${name}: the run reads warnings of terragrunt: warn, info, debug or trace is needed`;
  return null;
}
