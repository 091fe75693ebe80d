const times = { startedAt: 'it has not started', finishedAt: 'it has not finished' } as const;
const apiKey = {
  lastUsedAt: 'it was never used',
  createdByUser: 'its creator is not known',
  expiresAt: 'it does not expire',
} as const;

/**
 * The one table of what null means in a reply. A reply schema is built through it (`replyObject` in
 * `schema.ts`), so a required field that is not listed here is never null, and an optional field without a
 * value is absent.
 */
const nulls = {
  Organization: {
    maxTtl: 'no maximum: environments may exist forever',
    defaultTtl: 'no default: environments exist forever',
  },
  Policy: {
    numberOfEnvironments: 'no limit for a user',
    numberOfEnvironmentsTotal: 'no limit for the project',
    maxTtl: 'no maximum: environments may exist forever',
    defaultTtl: 'no default: environments exist forever',
  },
  Environment: {
    lifespanEndAt: 'infinite: the environment is not destroyed automatically',
    latestDeploymentLogId:
      'no deployment was ever requested; `latestDeploymentLog` is a placeholder with status NEVER_DEPLOYED',
  },
  Deployment: {
    queuedAt: 'a placeholder that was never requested (NEVER_DEPLOYED)',
    ...times,
    output: 'it has produced no outputs yet',
    error: 'no error occurred',
    costEstimation: 'no estimation was made',
    abortedBy: 'no one aborted it',
    abortedByUser: 'no one aborted it',
  },
  DeploymentStatusEvent: { waitingFor: 'it is not waiting', ...times },
  OrganizationDeploymentEvent: { waitingFor: 'it is not waiting', ...times },
  Variable: { overwrites: 'no outer scope has a variable of this name and type' },
  VariableSchema: { format: 'plain text', enum: 'any value, no list of choices' },
  Template: {
    githubInstallationId: 'the repository is not read through a GitHub installation',
    bitbucketClientKey: 'the repository is not read through a Bitbucket installation',
    vcsConnectionId: 'the repository is not read through a stored connection',
  },
  Discovery: {
    type: 'file mode: each environment has the type of its template',
    githubInstallationId: 'the repository is not read through a GitHub installation',
    bitbucketClientKey: 'the repository is not read through a Bitbucket installation',
    vcsConnectionId: 'the repository is not read through a stored connection',
  },
  Credential: { value: 'always: the value is never returned' },
  ApiKeySecret: { lastUsedAt: 'it was never used' },
  ApiKey: { ...apiKey, ownerId: 'no one is responsible for it' },
  NewApiKey: { ...apiKey, ownerId: 'no one is responsible for it' },
  ScimToken: { lastUsedAt: 'it was never used' },
  NewScimToken: { lastUsedAt: 'it was never used' },
  PersonalApiKey: { ...apiKey },
  NewPersonalApiKey: { ...apiKey },
  NotificationTest: { response: 'nothing was answered', error: 'it succeeded' },
  NotificationAttempt: { response: 'nothing was answered', error: 'it succeeded' },
  NotificationDeliveryDetails: { request: 'nothing was sent yet' },
  McpListedDeployment: { queuedAt: 'a placeholder that was never requested (NEVER_DEPLOYED)', ...times },
  McpDeployment: { log: 'no step was requested, and none failed or timed out' },
  McpErrorAnalysis: {
    error: 'no error occurred',
    failedStep: 'no step failed or timed out',
    log: 'no step failed or timed out',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The fields of a reply schema that may be null. */
export type NullableField<Schema extends string> = Schema extends keyof typeof nulls
  ? keyof (typeof nulls)[Schema]
  : never;

/** The meanings of null in the fields of a reply schema, by field. */
export function nullsOf(schema: string): Readonly<Record<string, string>> {
  return Object.hasOwn(nulls, schema) ? nulls[schema as keyof typeof nulls] : {};
}

/** The table as rows. */
export const nullRows = Object.entries(nulls).flatMap(([schema, fields]) =>
  Object.entries(fields).map(([field, meaning]) => ({ schema, field, meaning })),
);

/** The table as a page of the documentation, in Markdown. */
export function nullsPage(): string {
  const rows = nullRows.map(({ schema, field, meaning }) => `| ${schema} | \`${field}\` | ${meaning} |`);
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
