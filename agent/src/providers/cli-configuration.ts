/**
 * The CLI configuration of a run's tool (`.terraformrc`, `tofu.rc`): what the agent's operator gives, with
 * the agent's own cache, its registries and the run's tokens worked in.
 */
import { parseHcl } from '../drivers/terraform/hcl.ts';

/** What the operator's text says, parsed once. Serializable: it travels in a runner's order. */
export interface OperatorConfiguration {
  /** Everything but the parts below, as HCL. */
  readonly rest: string;
  /** Services of hosts, by host: `providers.v1` and others. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Attributes of each host's `credentials` block. */
  readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Methods of `provider_installation`, in the order in which they are tried; null where it has none. */
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
    'the agent keeps a cache of its own, which runs cannot write: take it out (ENVARIUM_PROVIDER_CACHE_DIR names its folder)',
  plugin_cache_may_break_dependency_lock_file: 'the agent keeps a cache of its own: take it out',
};

/**
 * Reads an operator's CLI configuration.
 * @throws an Error that says which part of the text is wrong; no value of it is repeated
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
      throw new Error(`${name} is nothing that a CLI configuration has`);
  }
  return {
    rest: writeBody(others, ''),
    hosts: Object.fromEntries(
      labelled(host, 'host').map(([name, body]) => [
        name,
        textsOf(asObject(body['services']), `host ${name}`),
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

// The parser quotes the line that it stumbles over, which may hold a token.
function withoutValues(error: string): string {
  return error.split('\n')[0]?.replaceAll(/"[^"]*"/g, '"…"') ?? '';
}

function readInstallation(value: unknown): InstallationMethod[] | null {
  if (value === undefined) return null;
  const bodies = asArray(value);
  if (bodies.length !== 1) throw new Error('provider_installation appears more than once');
  const body = asObject(bodies[0]);
  for (const name of Object.keys(body)) {
    if (name === 'dev_overrides')
      throw new Error('provider_installation: dev_overrides are for a developer, no run uses them');
    if (!(methodKinds as readonly string[]).includes(name))
      throw new Error(`provider_installation: ${name} is not a method of installation`);
  }
  return methodKinds.flatMap((kind) =>
    asArray(body[kind] ?? []).map((attributes) => ({ kind, attributes: asObject(attributes) })),
  );
}

function labelled(value: unknown, name: string): [string, Record<string, unknown>][] {
  if (value === undefined) return [];
  const blocks = asObject(value);
  return Object.entries(blocks).map(([label, bodies]) => {
    if (asArray(bodies).length !== 1) throw new Error(`${name} "${label}" appears more than once`);
    return [label, asObject(asArray(bodies)[0])];
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

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** The values that must appear in no log. */
export function secretsOf({ credentials }: OperatorConfiguration): string[] {
  return Object.values(credentials)
    .flatMap((attributes) => Object.values(attributes))
    .filter((value) => value !== '');
}

export interface RunConfiguration {
  readonly operator: OperatorConfiguration;
  /** Services of hosts that the run reaches by other addresses, by host; they win over the operator's. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Tokens by host; they win over the operator's. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly installation: readonly InstallationMethod[];
}

/** @returns the text of a run's CLI configuration */
export function writeRunConfiguration({ operator, hosts, tokens, installation }: RunConfiguration): string {
  const services = { ...operator.hosts, ...hosts };
  const credentials = {
    ...operator.credentials,
    ...Object.fromEntries(Object.entries(tokens).map(([host, token]) => [host, { token }])),
  };
  return [
    operator.rest,
    ...Object.entries(services).map(
      ([host, addresses]) =>
        `host ${quoted(host)} {\n  services = {\n${attributes(addresses, '    ')}  }\n}\n`,
    ),
    ...Object.entries(credentials).map(
      ([host, body]) => `credentials ${quoted(host)} {\n${attributes(body, '  ')}}\n`,
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

// Blocks come as arrays of objects and objects as such: this is how they differ.
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
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))
  );
}

function isLabelled(value: unknown): value is Record<string, Record<string, unknown>[]> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isBlocks)
  );
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
