/**
 * The CLI configuration of a run's tool (`.terraformrc`, `tofu.rc`): the operator's, combined with the
 * agent's cache, its registries and the run's tokens.
 */
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { parseHcl } from '../drivers/terraform/code/hcl.ts';

/** The parsed text of the operator; serializable as part of a runner's order. */
export interface OperatorConfiguration {
  /** Everything except the parts below, as HCL. */
  readonly rest: string;
  /** Services by host: `providers.v1` and others. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The attributes of each host's `credentials` block. */
  readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The methods of `provider_installation` in their order; null if there are none. */
  readonly installation: readonly InstallationMethod[] | null;
}

export interface InstallationMethod {
  readonly kind: 'filesystem_mirror' | 'network_mirror' | 'oci_mirror' | 'direct';
  readonly attributes: Readonly<Record<string, unknown>>;
}

const methodKinds = ['filesystem_mirror', 'network_mirror', 'oci_mirror', 'direct'] as const;
const plainNames = [
  'disable_checkpoint',
  'disable_checkpoint_signature',
  'credentials_helper',
  'oci_default_credentials',
  'oci_credentials',
  'registry_protocols',
] as const;
const refusedNames: Readonly<Record<string, string>> = {
  plugin_cache_dir:
    'the agent has its own cache, which runs cannot write: remove it (ENVARIUM_PROVIDER_CACHE_DIR specifies the folder)',
  plugin_cache_may_break_dependency_lock_file: 'the agent has its own cache: remove it',
};

/**
 * Reads an operator's CLI configuration.
 * @throws an Error that names the invalid part without repeating its values
 */
export async function readOperatorConfiguration(text: string): Promise<OperatorConfiguration> {
  const [answer] = await parseHcl([{ name: 'CLI configuration', text }]);
  if (!answer || answer.error !== undefined)
    throw new Error(`it cannot be read: ${withoutValues(answer?.error ?? 'no answer')}`);
  const { provider_installation: installation, host, credentials, ...others } = answer.body;
  for (const name of Object.keys(others)) {
    const reason = refusedNames[name];
    if (reason !== undefined) throw new Error(`${name}: ${reason}`);
    if (!(plainNames as readonly string[]).includes(name))
      throw new Error(`${name} is not part of a CLI configuration`);
  }
  return {
    rest: writeBody(others, ''),
    hosts: Object.fromEntries(
      labelled(host, 'host').map(([name, body]) => [
        name,
        textsOf(recordOf(body['services']), `host ${name}`),
      ]),
    ),
    credentials: Object.fromEntries(
      labelled(credentials, 'credentials').map(([name, body]) => [
        name,
        textsOf(body, `credentials ${name}`),
      ]),
    ),
    installation: readInstallation(installation),
  };
}

// The parser quotes the invalid line, which may contain a token.
function withoutValues(error: string): string {
  return error.split('\n')[0]?.replaceAll(/"[^"]*"/g, '"…"') ?? '';
}

function readInstallation(value: unknown): InstallationMethod[] | null {
  if (value === undefined) return null;
  const bodies = asArray(value);
  if (bodies.length !== 1) throw new Error('provider_installation appears more than once');
  const body = recordOf(bodies[0]);
  for (const name of Object.keys(body)) {
    if (name === 'dev_overrides')
      throw new Error('provider_installation: dev_overrides are for developers and not supported in runs');
    if (!(methodKinds as readonly string[]).includes(name))
      throw new Error(`provider_installation: ${name} is not an installation method`);
  }
  return methodKinds.flatMap((kind) =>
    asArray(body[kind] ?? []).map((attributes) => ({ kind, attributes: recordOf(attributes) })),
  );
}

function labelled(value: unknown, name: string): [string, Record<string, unknown>][] {
  if (value === undefined) return [];
  const blocks = recordOf(value);
  return Object.entries(blocks).map(([label, bodies]) => {
    if (asArray(bodies).length !== 1) throw new Error(`${name} "${label}" appears more than once`);
    return [label, recordOf(asArray(bodies)[0])];
  });
}

function textsOf(body: Record<string, unknown>, place: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      if (typeof value !== 'string') return [];
      if (/[$%]\{/.test(value)) throw new Error(`${place}: ${name} must be a constant text`);
      return [[name, value] as const];
    }),
  );
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Values that must not appear in any log. */
export function secretsOf({ credentials }: OperatorConfiguration): string[] {
  return Object.values(credentials)
    .flatMap((attributes) => Object.values(attributes))
    .filter((value) => value !== '');
}

export interface RunConfiguration {
  readonly operator: OperatorConfiguration;
  /** Services by host that the run reaches at other addresses; they take precedence over the operator's. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Tokens by host that the run may read; the agent adds all others. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly installation: readonly InstallationMethod[];
}

/** @returns the text of a run's CLI configuration */
export function writeRunConfiguration({ operator, hosts, tokens, installation }: RunConfiguration): string {
  const services = { ...operator.hosts, ...hosts };
  return [
    operator.rest,
    ...Object.entries(services).map(
      ([host, addresses]) =>
        `host ${quoted(host)} {\n  services = {\n${attributes(addresses, '    ')}  }\n}\n`,
    ),
    ...Object.entries(tokens).map(
      ([host, token]) => `credentials ${quoted(host)} {\n${attributes({ token }, '  ')}}\n`,
    ),
    'provider_installation {\n',
    ...installation.map((method) => `  ${method.kind} {\n${writeBody(method.attributes, '    ')}  }\n`),
    '}\n',
  ].join('');
}

function attributes(values: Readonly<Record<string, string>>, indent: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${indent}${/^[a-z_]+$/.test(name) ? name : quoted(name)} = ${quoted(value)}\n`)
    .join('');
}

// Blocks are arrays of objects, unlike object values.
function writeBody(body: Readonly<Record<string, unknown>>, indent: string): string {
  return Object.entries(body)
    .map(([name, value]) => {
      if (isBlocks(value))
        return value
          .map((one) => `${indent}${name} {\n${writeBody(one, `${indent}  `)}${indent}}\n`)
          .join('');
      if (isLabelled(value))
        return Object.entries(value)
          .flatMap(([label, blocks]) =>
            blocks.map(
              (one) => `${indent}${name} ${quoted(label)} {\n${writeBody(one, `${indent}  `)}${indent}}\n`,
            ),
          )
          .join('');
      return `${indent}${name} = ${writeValue(value)}\n`;
    })
    .join('');
}

function isBlocks(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord);
}

function isLabelled(value: unknown): value is Record<string, Record<string, unknown>[]> {
  return isRecord(value) && Object.values(value).every(isBlocks);
}

function writeValue(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, one]) => `${quoted(name)} = ${writeValue(one)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
