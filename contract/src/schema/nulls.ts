/**
 * The one table of what null means in a reply. A reply schema is built through it (`replyObject` in
 * `schema.ts`), so a required field that is not listed here is never null, and an optional field without a
 * value is absent.
 */
export const nulls = [
  { schema: 'Organization', field: 'maxTtl', meaning: 'no maximum: environments may exist forever' },
  { schema: 'Organization', field: 'defaultTtl', meaning: 'no default: environments exist forever' },
  { schema: 'Policy', field: 'numberOfEnvironments', meaning: 'no limit for a user' },
  { schema: 'Policy', field: 'numberOfEnvironmentsTotal', meaning: 'no limit for the project' },
  { schema: 'Policy', field: 'maxTtl', meaning: 'no maximum: environments may exist forever' },
  { schema: 'Policy', field: 'defaultTtl', meaning: 'no default: environments exist forever' },
  {
    schema: 'Environment',
    field: 'lifespanEndAt',
    meaning: 'infinite: the environment is not destroyed automatically',
  },
  {
    schema: 'Environment',
    field: 'latestDeploymentLogId',
    meaning:
      'no deployment was ever requested; `latestDeploymentLog` is a placeholder with status NEVER_DEPLOYED',
  },
  {
    schema: 'Deployment',
    field: 'queuedAt',
    meaning: 'a placeholder that was never requested (NEVER_DEPLOYED)',
  },
  { schema: 'Deployment', field: 'startedAt', meaning: 'it has not started' },
  { schema: 'Deployment', field: 'finishedAt', meaning: 'it has not finished' },
  { schema: 'Deployment', field: 'output', meaning: 'it has produced no outputs yet' },
  { schema: 'Deployment', field: 'error', meaning: 'no error occurred' },
  { schema: 'Deployment', field: 'costEstimation', meaning: 'no estimation was made' },
  { schema: 'Deployment', field: 'abortedBy', meaning: 'nobody aborted it' },
  { schema: 'Deployment', field: 'abortedByUser', meaning: 'nobody aborted it' },
  { schema: 'DeploymentStatusEvent', field: 'waitingFor', meaning: 'it is not waiting' },
  { schema: 'DeploymentStatusEvent', field: 'startedAt', meaning: 'it has not started' },
  { schema: 'DeploymentStatusEvent', field: 'finishedAt', meaning: 'it has not finished' },
  { schema: 'OrganizationDeploymentEvent', field: 'waitingFor', meaning: 'it is not waiting' },
  { schema: 'OrganizationDeploymentEvent', field: 'startedAt', meaning: 'it has not started' },
  { schema: 'OrganizationDeploymentEvent', field: 'finishedAt', meaning: 'it has not finished' },
  { schema: 'Variable', field: 'overwrites', meaning: 'no outer scope has a variable of this name and type' },
  { schema: 'VariableSchema', field: 'format', meaning: 'plain text' },
  { schema: 'VariableSchema', field: 'enum', meaning: 'any value, no list of choices' },
  {
    schema: 'Template',
    field: 'githubInstallationId',
    meaning: 'the repository is not read through a GitHub installation',
  },
  {
    schema: 'Template',
    field: 'bitbucketClientKey',
    meaning: 'the repository is not read through a Bitbucket installation',
  },
  {
    schema: 'Template',
    field: 'vcsConnectionId',
    meaning: 'the repository is not read through a stored connection',
  },
  { schema: 'Credential', field: 'value', meaning: 'always: the value is never returned' },
  { schema: 'ApiKeySecret', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'ApiKey', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'ApiKey', field: 'createdByUser', meaning: 'its creator is not known' },
  { schema: 'ApiKey', field: 'expiresAt', meaning: 'it does not expire' },
  { schema: 'ApiKey', field: 'ownerId', meaning: 'nobody answers for it' },
  { schema: 'NewApiKey', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'NewApiKey', field: 'createdByUser', meaning: 'its creator is not known' },
  { schema: 'NewApiKey', field: 'expiresAt', meaning: 'it does not expire' },
  { schema: 'NewApiKey', field: 'ownerId', meaning: 'nobody answers for it' },
  { schema: 'ScimToken', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'NewScimToken', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'PersonalApiKey', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'PersonalApiKey', field: 'createdByUser', meaning: 'its creator is not known' },
  { schema: 'PersonalApiKey', field: 'expiresAt', meaning: 'it does not expire' },
  { schema: 'NewPersonalApiKey', field: 'lastUsedAt', meaning: 'it was never used' },
  { schema: 'NewPersonalApiKey', field: 'createdByUser', meaning: 'its creator is not known' },
  { schema: 'NewPersonalApiKey', field: 'expiresAt', meaning: 'it does not expire' },
  { schema: 'NotificationTest', field: 'response', meaning: 'nothing was answered' },
  { schema: 'NotificationTest', field: 'error', meaning: 'it succeeded' },
  { schema: 'NotificationAttempt', field: 'response', meaning: 'nothing was answered' },
  { schema: 'NotificationAttempt', field: 'error', meaning: 'it succeeded' },
  { schema: 'NotificationDeliveryDetails', field: 'request', meaning: 'nothing was sent yet' },
  {
    schema: 'McpListedDeployment',
    field: 'queuedAt',
    meaning: 'a placeholder that was never requested (NEVER_DEPLOYED)',
  },
  { schema: 'McpListedDeployment', field: 'startedAt', meaning: 'it has not started' },
  { schema: 'McpListedDeployment', field: 'finishedAt', meaning: 'it has not finished' },
  { schema: 'McpDeployment', field: 'log', meaning: 'no step was requested, and none failed or timed out' },
  { schema: 'McpErrorAnalysis', field: 'error', meaning: 'no error occurred' },
  { schema: 'McpErrorAnalysis', field: 'failedStep', meaning: 'no step failed or timed out' },
  { schema: 'McpErrorAnalysis', field: 'log', meaning: 'no step failed or timed out' },
] as const;

/** The fields of a reply schema that may be null. */
export type NullableField<Schema extends string> = Extract<
  (typeof nulls)[number],
  { schema: Schema }
>['field'];

/** The table as a page of the documentation, in Markdown. */
export function nullsPage(): string {
  const rows = nulls.map(({ schema, field, meaning }) => `| ${schema} | \`${field}\` | ${meaning} |`);
  return [
    '# What null means',
    '',
    'Required fields of a reply are always present. The following may be null, with the meaning shown; no other field is ever null. Optional fields',
    'without a value are absent. Generated from `contract/src/schema/nulls.ts`.',
    '',
    '| Reply | Field | Null means |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
