/** Settings of a policy, from its JSON Schema: one of a third party, of which only known forms count. */

export type FieldKind =
  | 'switch'
  | 'choice'
  | 'choices'
  | 'texts'
  | 'wholes'
  | 'text'
  | 'number'
  | 'whole'
  | 'other';

export interface ConfigurationField {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** `other`: what no field can show. */
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly isOnByDefault: boolean;
  /** Default without a value, for the empty field. */
  readonly otherwise: string;
  readonly choices: readonly string[];
  readonly minimum: number;
  readonly maximum: number;
}

type SchemaObject = Readonly<Record<string, unknown>>;

const mostFields = 100;

const objectOf = (value: unknown): SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SchemaObject) : {};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

/** Its values where all are texts. */
function choicesOf({ enum: values }: SchemaObject): string[] {
  const isChoice = Array.isArray(values) && values.every((each) => typeof each === 'string');
  return isChoice ? [...new Set(values as string[])] : [];
}

function kindOf(property: SchemaObject): FieldKind {
  const { type } = property;
  const items = objectOf(property.items);
  if (type === 'boolean') return 'switch';
  if (choicesOf(property).length > 0) return 'choice';
  if (type === 'array' && choicesOf(items).length > 0) return 'choices';
  if (property.enum !== undefined || items.enum !== undefined) return 'other';
  if (type === 'array' && items.type === 'string') return 'texts';
  if (type === 'array' && items.type === 'integer') return 'wholes';
  if (type === 'string') return 'text';
  if (type === 'integer') return 'whole';
  return type === 'number' ? 'number' : 'other';
}

function otherwiseOf({ default: value }: SchemaObject): string {
  if (value === undefined || value === null || typeof value === 'boolean') return '';
  const text = Array.isArray(value)
    ? value.map((each) => textOf(each) || JSON.stringify(each)).join(', ')
    : '';
  return text || textOf(value) || (Array.isArray(value) ? '' : JSON.stringify(value));
}

/** The settings that a schema describes, in its order. @param schema whatever the file of the policy contains */
export function configurationFields(schema: unknown): ConfigurationField[] {
  const { properties, required } = objectOf(schema);
  const all = Object.entries(objectOf(properties)).slice(0, mostFields);
  return all.map(([name, declared]) => {
    const property = objectOf(declared);
    const kind = kindOf(property);
    const limits = kind === 'wholes' ? objectOf(property.items) : property;
    return {
      name,
      kind,
      label: textOf(property.title) || name,
      description: textOf(property.description),
      isRequired: Array.isArray(required) && required.includes(name),
      isOnByDefault: property.default === true,
      otherwise: otherwiseOf(property),
      choices: choicesOf(kind === 'choices' ? objectOf(property.items) : property),
      minimum: numberOf(limits.minimum, -Infinity),
      maximum: numberOf(limits.maximum, Infinity),
    };
  });
}

function numberProblem({ kind, minimum, maximum }: ConfigurationField, value: unknown): string | undefined {
  const isWhole = kind !== 'number';
  if (typeof value !== 'number' || (isWhole && !Number.isInteger(value)))
    return `“${String(value)}” must be a ${isWhole ? 'whole number' : 'number'}.`;
  if (value < minimum) return `${value} is too small: at least ${minimum}.`;
  return value > maximum ? `${value} is too large: at most ${maximum}.` : undefined;
}

/** Problem of a value, found before the request. */
function problemOf(field: ConfigurationField, value: unknown): string | undefined {
  const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  if (isEmpty) return field.isRequired ? 'This is required.' : undefined;
  if (field.kind === 'number' || field.kind === 'whole') return numberProblem(field, value);
  if (field.kind !== 'wholes' || !Array.isArray(value)) return undefined;
  return value.map((each) => numberProblem(field, each)).find((problem) => problem !== undefined);
}

/** Problems of a configuration, by the names of its settings. */
export function configurationProblems(schema: unknown, configuration: SchemaObject): Record<string, string> {
  return Object.fromEntries(
    configurationFields(schema).flatMap((field) => {
      const problem = problemOf(field, configuration[field.name]);
      return problem === undefined ? [] : [[field.name, problem]];
    }),
  );
}
