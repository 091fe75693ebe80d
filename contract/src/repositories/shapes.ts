/** Shapes of replies about repositories. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { AnyObject, Flag, replyObject, Text } from '../schema/schema.ts';
import { VariableSchema, VariableTypeNumber } from '../variables/shapes.ts';

export const RepositoryVariable = replyObject('RepositoryVariable', {
  name: Text,
  scope: oneOf(['BLUEPRINT']),
  type: VariableTypeNumber,
  value: Type.Optional(
    Type.String({
      description: 'The default as the code has it, also if `isSensitive`; lists and maps as JSON',
    }),
  ),
  description: Type.Optional(Type.String({ description: 'As the code has it, shortened to 255 characters' })),
  isSensitive: Type.Optional(Flag),
  isRequired: Type.Optional(Type.Boolean({ description: 'It has no default' })),
  regex: Type.Optional(Text),
  schema: Type.Optional(VariableSchema),
  valueType: Type.Optional(
    Type.String({ description: 'The type as the code has it, such as `list(string)`; absent: any' }),
  ),
  isNullable: Type.Optional(Type.Boolean({ description: 'False: null cannot be its value' })),
  rules: Type.Optional(
    Type.Array(Text, { description: 'What its validation rules say about a value that they refuse' }),
  ),
});
export type RepositoryVariable = Static<typeof RepositoryVariable>;

export const PolicySchema = replyObject('PolicySchema', {
  configurationSchema: Type.Optional({
    ...AnyObject,
    description: 'The JSON Schema in the file; absent: there is no such file',
  }),
});

export const Revisions = replyObject('Revisions', {
  heads: Type.Array(Text, { description: 'Branches' }),
  tags: Type.Array(Text, { description: 'Tags' }),
});
