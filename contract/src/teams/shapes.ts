/** Shapes of replies about teams. */
import { type Static, Type } from 'typebox';
import { replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const Team = replyObject('Team', {
  id: Text,
  organizationId: Text,
  name: Text,
  description: Type.Optional(Text),
  users: Type.Optional(Type.Array(User)),
  createdByUser: Type.Optional(User),
  isDefaultTeam: Type.Optional(Type.Boolean({ description: 'New people of the organization join it' })),
});
export type Team = Static<typeof Team>;

/** The object form of a page of teams. */
export const TeamPage = replyObject('TeamPage', {
  teams: Type.Array(Team),
  nextPageKey: Type.Optional(
    Type.String({ description: '`offset` of the next page; absent on the last page' }),
  ),
});
export type TeamPage = Static<typeof TeamPage>;

export const TeamList = Type.Unsafe<Team[] | TeamPage>({ anyOf: [Type.Array(Team), TeamPage] });
