/** Shapes of a plan, its outputs and its costs in a reply, whatever the tool. */
import { type Static, Type } from 'typebox';
import { approvalDeciders, oneOf } from '../schema/enumerations.ts';
import { Count, Flag, Instant, mapOf, Text } from '../schema/schema.ts';
import { changeKinds } from './change-kinds.ts';

const Attribute = Type.Object({
  name: Text,
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
  forcesReplacement: Type.Optional(
    Type.Boolean({
      description:
        'Ours: the resource is replaced because of it; absent: it is not, or the tool does not tell',
    }),
  ),
});

export const ResourceChange = Type.Object(
  {
    id: Type.Optional(Text),
    name: Text,
    providerName: Text,
    type: Text,
    path: Type.String({ description: 'The address of the resource' }),
    moduleName: Type.Optional(Text),
    action: oneOf(['create', 'update', 'delete', 'recreate', 'metadata']),
    kind: Type.Optional(
      oneOf(
        changeKinds,
        'Ours: what the plan does to the resource, also where `action` only has metadata. forget: it is no longer ' +
          'managed and not destroyed. invoke: an action of a provider runs. unknown: the tool cannot predict the ' +
          'result. defer: a later deployment does it',
      ),
    ),
    driftByCloud: Type.Optional(Flag),
    attributes: Type.Array(Attribute),
    importing: Type.Optional(Type.Object({ id: Text })),
    actionReason: Type.Optional(Text),
    createBeforeDestroy: Type.Optional(Flag),
    previousAddress: Type.Optional(Text),
  },
  { title: 'ResourceChange' },
);
export type ResourceChange = Static<typeof ResourceChange>;

export const Plan = Type.Object(
  {
    resourceChanges: Type.Array(ResourceChange),
    settled: Type.Optional(
      Type.Array(ResourceChange, {
        description:
          'What a drift run read differently from the state but would not change, such as attributes that ' +
          'providers compute after an apply. It is not drift; the next apply stores it in the state.',
      }),
    ),
    outputChanges: Type.Array(
      Type.Object({
        moduleName: Type.Optional(Text),
        name: Text,
        action: Text,
        attributes: Type.Array(Attribute),
      }),
    ),
  },
  { title: 'Plan' },
);
export type Plan = Static<typeof Plan>;

/** A count of ours, beyond those of the interface. */
const OwnCount = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `Ours: ${description}; absent: none` }));

export const PlanSummary = Type.Object(
  {
    added: Count,
    changed: Count,
    destroyed: Count,
    imported: Type.Optional(Count),
    replaced: OwnCount('how many of those in `added` and `destroyed` are replaced, which counts in both'),
    forgotten: OwnCount('how many are no longer managed and not destroyed'),
    moved: OwnCount('how many get another address'),
    invoked: OwnCount('how many actions of providers run'),
    unknown: OwnCount('of how many the tool cannot predict the result'),
    deferred: OwnCount('how many changes are left to a later deployment; no other count includes them'),
  },
  { title: 'PlanSummary' },
);
export type PlanSummary = Static<typeof PlanSummary>;

export const PlannedUnit = Type.Object(
  {
    unit: Type.String({ description: 'Its path, from the folder of the run' }),
    changes: Type.Optional(
      Type.Record(Text, Count, {
        description: 'Number of changes by kind, such as `create aws_vpc`; absent: it has no plan yet',
      }),
    ),
    providerVersions: Type.Optional(
      Type.Record(Text, Text, { description: 'Versions of the providers that its plan was made with' }),
    ),
    moduleVersions: Type.Optional(
      Type.Record(Text, Text, { description: 'Versions of its modules that come from a registry' }),
    ),
    reason: Type.Optional(
      Type.String({ description: 'Why this plan leaves it out; absent: it is applied with this plan' }),
    ),
    follows: Type.Optional(
      Type.Boolean({ description: 'It is planned once this plan is applied, in the same deployment' }),
    ),
  },
  { title: 'PlannedUnit' },
);
export type PlannedUnit = Static<typeof PlannedUnit>;

export const OutputValue = Type.Object({ value: Type.Unknown(), sensitive: Flag, type: Type.Unknown() });
export type OutputValue = Static<typeof OutputValue>;

export const Outputs = mapOf(OutputValue, 'Outputs by name; the value of a sensitive one is hidden');
export type Outputs = Static<typeof Outputs>;

export const UnitOutputs = Type.Object(
  {
    moduleName: Type.String({ description: 'Path of the unit, from the folder of the run' }),
    output: Outputs,
  },
  { title: 'UnitOutputs' },
);
export type UnitOutputs = Static<typeof UnitOutputs>;

/** Typed as what all runs have but those of several units, whose list `outputsByName` reads. */
export const DeploymentOutputs = Type.Unsafe<Outputs>({
  ...Outputs,
  type: ['object', 'array'],
  items: UnitOutputs,
  description:
    'Outputs by name, or, of a run of several units, a list by unit; the value of a sensitive one is hidden',
});

export const Resource = Type.Object(
  { provider: Text, type: Text, name: Text, moduleName: Text },
  { title: 'Resource' },
);
export type Resource = Static<typeof Resource>;

/** As infracost writes amounts. */
const amount = '^-?[0-9]{1,15}(\\.[0-9]{1,40})?$';
const MonthlyCost = Type.String({ pattern: amount, description: 'Costs per month, as a decimal number' });

export const CostResource = Type.Object(
  {
    name: Type.String({ description: 'Address of the resource' }),
    resourceType: Type.Optional(Type.String({ description: 'Its type' })),
    monthlyCost: Type.Optional(
      Type.String({
        pattern: amount,
        description: 'Its costs per month; absent: they depend on how much it is used',
      }),
    ),
    isWithoutPrice: Type.Optional(
      Type.Boolean({ description: 'The pricing service has no price for it, or not for all of it' }),
    ),
  },
  { title: 'CostResource' },
);
export type CostResource = Static<typeof CostResource>;

export const CostBreakdown = Type.Object(
  {
    totalMonthlyCost: Type.Optional(MonthlyCost),
    resources: Type.Optional(Type.Array(CostResource, { description: 'The dearest first' })),
  },
  { title: 'CostBreakdown' },
);
export type CostBreakdown = Static<typeof CostBreakdown>;

export const CostProject = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        description: 'Path of the unit, from the folder of the run; absent where there are none',
      }),
    ),
    pastBreakdown: Type.Optional(
      Type.Object({ totalMonthlyCost: Type.Optional(MonthlyCost) }, { description: 'What exists before' }),
    ),
    breakdown: Type.Optional(
      Type.Object(CostBreakdown.properties, {
        title: 'CostBreakdown',
        description: 'All that exists after the deployment',
      }),
    ),
    diff: Type.Optional(CostBreakdown),
    unsupported: Type.Optional(
      Type.Record(Text, Count, {
        description:
          'How many resources are not in the totals because Infracost does not know their type, by type',
      }),
    ),
  },
  { title: 'CostProject' },
);
export type CostProject = Static<typeof CostProject>;

export const CostEstimation = Type.Object(
  {
    totalMonthlyCost: Type.Optional(
      Type.Number({ description: 'Costs per month of all that exists after the deployment' }),
    ),
    monthlyCostDiff: Type.Optional(
      Type.Number({ description: 'How much more that is than before the deployment' }),
    ),
    currency: Type.Optional(
      Type.String({ pattern: '^[A-Z]{3}$', description: 'Code of the currency, such as USD' }),
    ),
    projects: Type.Optional(Type.Array(CostProject)),
    withoutPrice: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Number of resources that count less than they cost, because a price is missing; absent: none',
      }),
    ),
    omitted: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Number of resources that are in the totals and not in the lists; absent: none',
      }),
    ),
  },
  { title: 'CostEstimation' },
);
export type CostEstimation = Static<typeof CostEstimation>;

export const GitMetadata = Type.Object(
  { commit: Text, branch: Text, timestamp: Text },
  { title: 'GitMetadata' },
);
export type GitMetadata = Static<typeof GitMetadata>;

export const DriftCause = Type.Object(
  {
    unappliedCommits: Type.Array(Type.Object({ userEmail: Text, timestamp: Text, commitHash: Text })),
  },
  { title: 'DriftCause' },
);

/** Versions by name. */
export const Versions = mapOf(Text);

export const DeploymentErrorBody = Type.Object(
  {
    message: Text,
    name: Type.Optional(Text),
    exitCode: Type.Optional(Type.Integer()),
    retryCount: Type.Optional(Count),
    isUserError: Type.Optional(Flag),
  },
  { title: 'DeploymentError' },
);
export type DeploymentErrorBody = Static<typeof DeploymentErrorBody>;

export const waitKinds = ['deployment', 'approval', 'agent', 'lock', 'retry'] as const;

/** Reason why a user with the right to approve may not approve a certain plan. */
export const approverObstacles = ['ownPlan', 'alreadyApproved'] as const;
export type ApproverObstacle = (typeof approverObstacles)[number];

/** Facts about an approval that a plan waits for. */
export const ApprovalWait = Type.Object(
  {
    until: {
      ...Instant,
      description: 'When the deployment ends with TIMEOUT if no one has decided by then',
    },
    decidedBy: oneOf(
      approvalDeciders,
      'Why it waits: who started it may only plan, ENVARIUM_REQUIRES_APPROVAL, approval policies, the ' +
        'policy of a project that lets no one approve their own plans, the request, or the setting of the environment',
    ),
    missing: Type.Optional(
      Type.Array(Text, {
        description: 'What approval policies still ask for, in their own words. Not in event streams',
      }),
    ),
    excluded: Type.Optional(
      Type.Array(
        Type.Object({
          userId: Text,
          reason: oneOf(
            approverObstacles,
            'ownPlan: the plan is theirs, and the policy of the project has selfApprovalForbidden',
          ),
        }),
        {
          description:
            'Who may not approve this plan, whatever their rights; keys that they made may not either. Not in ' +
            'event streams',
        },
      ),
    ),
  },
  { title: 'ApprovalWait' },
);
export type ApprovalWait = Static<typeof ApprovalWait>;

/** Why nothing moves. */
export const WaitingFor = Type.Object(
  {
    kind: oneOf(waitKinds),
    id: Type.Optional(Type.String({ description: 'The deployment or agent that it is waiting for' })),
    since: Instant,
    text: Type.String({ description: 'The same as a sentence' }),
    approval: Type.Optional({ ...ApprovalWait, description: 'Of a plan that waits for approval' }),
  },
  { title: 'WaitingFor' },
);
export type WaitingFor = Static<typeof WaitingFor>;

/** After a tool died: what it made that no state knows. */
export const UnrecordedResource = Type.Object(
  {
    address: Text,
    id: Type.Optional(Type.String({ description: 'The id assigned by the cloud, for an import' })),
    certainty: oneOf(['created', 'may exist']),
  },
  { title: 'UnrecordedResource' },
);
export type UnrecordedResource = Static<typeof UnrecordedResource>;
