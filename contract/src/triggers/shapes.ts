/** Environments that are deployed after another one, as replies carry them. */
import { type Static, Type } from 'typebox';
import { environmentStatuses, oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

/** The result of the last successful deployment upstream. */
export const LastTrigger = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'When it was decided' }),
    causedBy: Type.String({ description: 'The deployment upstream' }),
    deploymentId: Type.Optional(Type.String({ description: 'The deployment that was started' })),
    reason: Type.Optional(Type.String({ description: 'Why none was started' })),
  },
  { title: 'LastTrigger' },
);
export type LastTrigger = Static<typeof LastTrigger>;

export const DownstreamEnvironment = replyObject('DownstreamEnvironment', {
  id: Type.String({ description: 'Id of the environment' }),
  name: Type.String({ description: 'Name of the environment' }),
  workspaceName: Text,
  projectId: Text,
  status: Type.Optional(oneOf(environmentStatuses)),
  latestDeploymentLog: Type.Object({ blueprintName: Text }),
  lastTrigger: Type.Optional(LastTrigger),
});
export type DownstreamEnvironment = Static<typeof DownstreamEnvironment>;
