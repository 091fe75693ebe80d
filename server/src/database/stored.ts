/** Shapes of jsonb columns that the contract does not have. */
import type { Outputs } from '#contract/deployments/plan.ts';
import type { VariableSchema } from '#contract/variables/shapes.ts';
import type { VersionFacts } from '#protocol/tools/tool.ts';

/**
 * Source, tool version, VCS and retry settings of a template as the contract names them; only those that were
 * sent.
 */
export type TemplateSettings = Record<string, unknown> & {
  revision?: string;
  path?: string;
  retry?: Record<string, unknown>;
} & Partial<Record<NonNullable<VersionFacts['field']>, string>>;

/** A variable as a deployment keeps it for readers: a sensitive value is already replaced. */
export interface StoredVariable {
  id?: string;
  name: string;
  scope: string;
  scopeId?: string;
  type: 0 | 1;
  value?: string;
  isSensitive: boolean;
  schema?: VariableSchema;
  userId?: string;
  updatedAt?: string;
  projectId?: string;
}

/** The value of a sensitive output is in `sealed_output` only, and null here. */
export type StoredOutputs = Outputs;
