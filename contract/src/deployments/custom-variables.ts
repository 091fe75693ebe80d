/** Facts about a run that its tools get as variables, of which a request may replace some. */
import { type Static, Type } from 'typebox';
import { deploymentTypes, oneOf } from '../schema/enumerations.ts';
import { ignoredInRequests } from '../schema/no-effect.ts';
import { closed, Text } from '../schema/schema.ts';

/** Names of the facts of a run that are text. */
export const customVariableNames = [
  'environmentId',
  'projectId',
  'projectName',
  'parentProjectIds',
  'parentProjectPath',
  'deploymentLogId',
  'deploymentRevision',
  'workspaceName',
  'rootDir',
  'organizationId',
  'templateId',
  'templateDir',
  'templateName',
  'environmentName',
  'environmentCreatorName',
  'environmentCreatorUserId',
  'environmentCreatorEmail',
  'deployerName',
  'deployerUserId',
  'deployerEmail',
  'reviewerName',
  'reviewerEmail',
  'reviewerUserId',
  'vcsProvider',
  'prAuthor',
  'prNumber',
  'prSourceRepository',
  'prSourceBranch',
  'prTargetBranch',
  'commitHash',
  'commitUrl',
  'oidcToken',
  'vcsAccessToken',
  'tfPlanJson',
  'cliArgsPlan',
  'cliArgsApply',
  'discoveryRepositoryUrl',
  'discoveryPrNumber',
  'discoveryVCS',
] as const;
type CustomVariableName = (typeof customVariableNames)[number];

/**
 * Facts about the run itself, its code and the people behind it: scripts rely on them, so requests do not change
 * them. They are ignored rather than refused: clients send back what they have read.
 */
export const fixedFacts: readonly string[] = [
  'deploymentType',
  'organizationId',
  'projectId',
  'environmentId',
  'deploymentLogId',
  'deploymentRevision',
  'commitHash',
  'rootDir',
  'templateDir',
  'environmentCreatorName',
  'environmentCreatorUserId',
  'environmentCreatorEmail',
  'deployerName',
  'deployerUserId',
  'deployerEmail',
  'reviewerName',
  'reviewerUserId',
  'reviewerEmail',
] satisfies readonly ('deploymentType' | CustomVariableName)[];

const reason = 'it is a fact of the run';
const OptionalText = Type.Optional(Text);
const FixedText = Type.Optional(ignoredInRequests(Text, reason));

/** Of requests and replies alike. */
export const CustomServiceEnvironmentVariables = closed(
  {
    deploymentType: Type.Optional(ignoredInRequests(oneOf(deploymentTypes), reason)),
    ...(Object.fromEntries(
      customVariableNames.map((name) => [name, fixedFacts.includes(name) ? FixedText : OptionalText]),
    ) as Record<CustomVariableName, typeof OptionalText>),
  },
  'CustomServiceEnvironmentVariables',
);
export type CustomServiceEnvironmentVariables = Static<typeof CustomServiceEnvironmentVariables>;
