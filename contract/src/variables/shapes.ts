/**
 * Variables (on the wire: configuration properties): rows of a reply, changes of a request, and what a
 * deployment embeds.
 */
import { type Static, Type } from 'typebox';
import { oneOf, variableFormats, variableScopes } from '../schema/enumerations.ts';
import {
  AnyObject,
  closed,
  Flag,
  Instant,
  Name,
  nullable,
  oneOrMany,
  orNull,
  replyObject,
  Text,
} from '../schema/schema.ts';
import { type WithoutNulls, without, withoutNulls } from '../schema/without-nulls.ts';

const Scope = oneOf(variableScopes);
export const VariableTypeNumber = Type.Unsafe<0 | 1>({
  type: 'integer',
  enum: [0, 1],
  description:
    '0: environment variable, 1: variable of the code, such as an input variable of Terraform or a parameter of a stack',
});

export const VariableSchema = replyObject('VariableSchema', {
  type: Type.Optional(oneOf(['string'])),
  format: Type.Optional(oneOf(variableFormats)),
  enum: Type.Optional(Type.Array(Text)),
});
export type VariableSchema = Static<typeof VariableSchema>;

/** The variable that another one hides. */
export const HiddenVariable = replyObject(
  'HiddenVariable',
  {
    scope: Scope,
    scopeId: Type.Optional(Text),
    value: Type.Optional(Type.String({ description: 'Asterisks if the variable is sensitive' })),
    schema: VariableSchema,
    isReadonly: Flag,
    isRequired: Flag,
    isSensitive: Flag,
    regex: Type.Optional(Text),
  },
  'The variable of the next outer scope, or of a configuration set, with the same name and type',
);
export type HiddenVariable = Static<typeof HiddenVariable>;

/** A variable as lists answer it. */
export const Variable = replyObject('Variable', {
  id: Type.Optional(Text),
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  name: Text,
  scope: Scope,
  scopeId: Type.Optional(Type.String({ description: 'Absent for GLOBAL' })),
  type: VariableTypeNumber,
  organizationId: Text,
  overwrites: Type.Optional(HiddenVariable),
  value: Type.Optional(Type.String({ description: 'Asterisks if the variable is sensitive' })),
  userId: Type.Optional(Text),
  isSensitive: Type.Optional(Flag),
  isReadonly: Type.Optional(Flag),
  isRequired: Type.Optional(Flag),
  regex: Type.Optional(Text),
  toDelete: Type.Optional(Type.Boolean({ description: 'True in the reply to the request that deletes it' })),
  projectId: Type.Optional(Text),
  schema: VariableSchema,
  description: Type.Optional(Text),
  isOutput: Type.Optional(Flag),
});
export type Variable = Static<typeof Variable>;

/** A variable as a deployment embeds it. */
export const DeploymentVariable = replyObject('DeploymentVariable', {
  id: Type.Optional(Text),
  name: Text,
  scope: Scope,
  scopeId: Type.Optional(Type.String({ description: 'Absent for GLOBAL' })),
  type: VariableTypeNumber,
  value: Type.Optional(Type.String({ description: 'Asterisks if the variable is sensitive' })),
  isSensitive: Type.Optional(Flag),
  schema: Type.Optional(VariableSchema),
  userId: Type.Optional(Text),
  updatedAt: Type.Optional(Instant),
  projectId: Type.Optional(Text),
});
export type DeploymentVariable = Static<typeof DeploymentVariable>;

const VariableSchemaRequest = closed({
  type: Type.Optional(oneOf(['string'])),
  format: Type.Optional(nullable(oneOf(variableFormats))),
  enum: orNull(Type.Array(Text)),
});

/**
 * One of `configurationChanges`. Clients also send back whole rows of ours, edited: every field of the row is
 * accepted, and two marks of theirs. What decides is `id`, `name`, `type` and the settings; `scope` and the
 * like of the original row do not.
 */
export const VariableChangeBody = closed(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    type: Type.Optional(VariableTypeNumber),
    value: orNull(Text),
    id: Type.Optional(Name),
    isSensitive: Type.Optional(Flag),
    isReadonly: orNull(Flag),
    isRequired: orNull(Flag),
    regex: orNull(Text),
    toDelete: Type.Optional(Flag),
    projectId: Type.Optional(Text),
    schema: orNull(VariableSchemaRequest),
    description: orNull(Text),
    isOutput: orNull(Flag),
    scope: Type.Optional(Scope),
    scopeId: Type.Optional(Text),
    organizationId: Type.Optional(Text),
    overwrites: orNull(AnyObject),
    userId: Type.Optional(Text),
    createdAt: Type.Optional(Text),
    updatedAt: Type.Optional(Text),
    isEdited: Type.Optional(Flag),
    originalVariableScope: Type.Optional(Text),
  },
  'VariableChange',
);

/** One request changes at most this many variables: they are written in one transaction. */
export const mostVariableChanges = 500;

/** Request of `POST /configuration`: a change and its scope. */
export const VariableWrites = Type.Array(VariableChangeBody, { maxItems: mostVariableChanges });

/** `configurationChanges`: one variable, an array of them, or null for none. */
export const VariableChanges = nullable(oneOrMany(VariableChangeBody, mostVariableChanges));

const originalRowFields = [
  'scope',
  'scopeId',
  'organizationId',
  'overwrites',
  'userId',
  'createdAt',
  'updatedAt',
  'isEdited',
  'originalVariableScope',
] as const;

/**
 * Effects of null on an existing variable. `isSensitive` is not in it, because a secret stays one unless a request
 * says otherwise.
 */
export const clearedVariable = {
  value: '',
  isReadonly: false,
  isRequired: false,
  isOutput: false,
  regex: '',
  schema: {},
  description: '',
} as const;

/**
 * A change of a variable as the service works with it: what an edited row says about its origin is left out.
 */
export type VariableChange = Omit<
  WithoutNulls<Static<typeof VariableChangeBody>>,
  'schema' | (typeof originalRowFields)[number]
> & {
  schema?: WithoutNulls<Static<typeof VariableSchemaRequest>>;
  /** True in a new scope: an id of a variable that it does not inherit was read elsewhere, and means the name and the value. */
  isCopy?: boolean;
  /** Fields that are cleared if the variable exists. */
  clears?: readonly (keyof typeof clearedVariable)[];
};

/** A change without what an edited row says about its origin, and with its nulls as `clears`. */
export function normalizeVariableChange(row: Static<typeof VariableChangeBody>): VariableChange {
  const { schema, ...fields } = withoutNulls(row);
  const change = without(fields, originalRowFields);
  const clears = (Object.keys(clearedVariable) as (keyof typeof clearedVariable)[]).filter(
    (name) => row[name] === null,
  );
  return {
    ...change,
    ...(schema ? { schema: withoutNulls(schema) } : {}),
    ...(clears.length > 0 ? { clears } : {}),
  };
}

/**
 * Places of each of `configurationChanges` in the request, in the order of `normalizeVariableChanges`:
 * one object is the field itself, elements of an array have their index.
 * @param field location of the changes, as `body.configurationChanges`
 */
export function variableChangeFields(
  changes: Static<typeof VariableChanges> | undefined,
  field: string,
): string[] {
  if (Array.isArray(changes)) return changes.map((_, index) => `${field}.${index}`);
  return changes ? [field] : [];
}

/** `configurationChanges` in every accepted form, as an array. */
export function normalizeVariableChanges(
  changes: Static<typeof VariableChanges> | undefined,
): VariableChange[] {
  return [changes ?? []].flat().map(normalizeVariableChange);
}
