/** Shapes of jsonb columns that the contract does not have. */
import type { Outputs } from '#contract/deployments/plan.ts';
import type { Template } from '#contract/templates/shapes.ts';

/** Settings of a template as the contract names them, only those that were sent: its other fields are columns. */
export type TemplateSettings = Partial<
  Omit<
    Template,
    | 'id'
    | 'createdAt'
    | 'updatedAt'
    | 'name'
    | 'repository'
    | 'type'
    | 'organizationId'
    | 'projectId'
    | 'projectIds'
    | 'author'
    | 'authorId'
    | 'isDeleted'
    | 'isSingleUse'
  >
>;

/** The value of a sensitive output is in `sealed_output` only, and null here. */
export type StoredOutputs = Outputs;
