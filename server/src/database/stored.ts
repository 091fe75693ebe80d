/** Shapes of what stands in jsonb columns. */
import type { Static } from 'typebox';
import type { VariableFormat } from '#contract/schema/enumerations.ts';
import type { Output } from '#protocol/messages.ts';
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

export interface Ttl {
  type: string;
  value?: string;
}

export interface VariableSchema {
  type?: string;
  format?: VariableFormat | null;
  enum?: string[] | null;
}

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

export interface GitUserData {
  gitUser?: string;
  gitAvatarUrl?: string;
  prNumber?: string;
}

export interface GitMetadata {
  commit: string;
  branch: string;
  timestamp: string;
}

export interface DeploymentError {
  message: string;
  exitCode?: number;
}

/** Outputs; the value of a sensitive one stands in `sealed_output` only and is null here. */
export type StoredOutputs = Record<string, Static<typeof Output>>;
