/** Job of an agent: one phase of a deployment. */
import { type Static, Type } from 'typebox';
import {
  deploymentTypes,
  oneOf,
  templateTypes,
  terragruntTfBinaries,
  variableScopes,
} from '#contract/schema/enumerations.ts';
import { Count, Text } from '#contract/schema/schema.ts';
import { HeldAttempt } from './attempt.ts';
import { RunCredential } from './run-credential.ts';

export const JobVariable = Type.Object({
  name: Text,
  value: Text,
  format: Type.Optional(oneOf(['HCL', 'JSON'])),
  isSensitive: Type.Boolean(),
  /** Place where the variable is defined, for messages. */
  scope: Type.Optional(oneOf(variableScopes)),
  /**
   * Only in what an agent has resolved: the text of the reference that named the value, which is what a person
   * approves. The value is used as it is. No server sends it.
   */
  reference: Type.Optional(Text),
  /** The value is used as it is: what looks like a reference in it is text. Absent: no. */
  isLiteral: Type.Optional(Type.Boolean()),
});
export type JobVariable = Static<typeof JobVariable>;

/**
 * The parts whose hash a person approves; compared part by part before an apply, so that a difference can be
 * named.
 */
export const ApprovedParts = Type.Object({
  planFile: Type.Optional(
    Type.String({ description: 'SHA-256 of the plan file; absent for a tool that saves no plan' }),
  ),
  commit: Text,
  toolVersion: Text,
  lockFile: Type.String({ description: 'SHA-256 of the lock file; of nothing where there is none' }),
  variables: Type.String({ description: 'SHA-256 of the resolved variables' }),
  secrets: Type.Optional(
    Type.String({
      description:
        'Fingerprint of the values from secret stores that the plan file contains, with a key derived from that file; ' +
        'absent without such values. Not a part of the hash.',
    }),
  ),
  /** Versions of the programs that the tool runs, by name; absent without any. Not a part of the hash. */
  companions: Type.Optional(Type.Record(Text, Text)),
});
export type ApprovedParts = Static<typeof ApprovedParts>;

/** A resource that exists and that the state does not have. */
export const ResourceToImport = Type.Object({
  address: Text,
  /** As its cloud names it. */
  id: Text,
});
export type ResourceToImport = Static<typeof ResourceToImport>;

export const Job = Type.Object({
  jobId: Text,
  attempt: Count,
  fence: Count,
  phase: oneOf(['plan', 'apply']),
  deploymentId: Text,
  environmentId: Text,
  organizationId: Text,
  projectId: Text,
  type: oneOf(deploymentTypes),
  tool: oneOf(templateTypes),
  toolVersion: Type.Optional(Text),
  workspaceName: Text,
  /**
   * The workspace's name was generated, and nothing has been applied in the environment yet: what exists may be
   * in another workspace of the code's backend. Absent otherwise: nothing is checked.
   */
  isWorkspaceNew: Type.Optional(Type.Boolean()),
  /**
   * The work folder that the plan phase used; an agent that cannot offer it does not take the apply. Absent
   * in a plan phase.
   */
  workFolder: Type.Optional(Text),
  /** Settings of template and environment for the tools that have such settings. */
  settings: Type.Optional(
    Type.Object({
      /** The template's file, relative to `source.path`. */
      fileName: Type.Optional(Text),
      terragruntTfBinary: Type.Optional(oneOf(terragruntTfBinaries)),
      isTerragruntRunAll: Type.Optional(Type.Boolean()),
      /** Version that the template requests of the program that terragrunt runs. */
      terraformVersion: Type.Optional(Text),
      opentofuVersion: Type.Optional(Text),
    }),
  ),
  /**
   * Of a deployment that plans some units once those are applied whose outputs they need. Absent for other
   * tools: what cannot be planned yet waits for another deployment.
   */
  level: Type.Optional(
    Type.Object({
      /** 1 for the first plan of the deployment. */
      number: Count,
      /** Units that are planned after the first level; empty there: all units. */
      units: Type.Array(Text),
      /** Units that earlier levels have applied. */
      done: Type.Array(Text),
      /** Program that made their plans, which makes this one, too; absent in the first level. */
      toolVersion: Type.Optional(Text),
      companions: Type.Optional(Type.Record(Text, Text)),
    }),
  ),
  source: Type.Object({
    repository: Text,
    /** Branch, tag or commit; absent: the default branch. */
    revision: Type.Optional(Text),
    /** Folder of the configuration inside the repository; absent: its root. */
    path: Type.Optional(Text),
    credentials: Type.Optional(Type.Object({ username: Text, password: Text })),
    /**
     * The checkout uses `credentials` and `ssh`, and the commands of the tool do not: modules are loaded without
     * them.
     */
    areCredentialsForCheckoutOnly: Type.Optional(Type.Boolean()),
    /**
     * Credentials for submodules and modules of other hosts (`name` or `name:port`); each goes to its own
     * host only.
     */
    hostCredentials: Type.Optional(Type.Array(Type.Object({ host: Text, username: Text, password: Text }))),
    /**
     * Private keys in the form that ssh reads, and lines of a `known_hosts` file: a host that none of them
     * names is refused.
     */
    ssh: Type.Optional(Type.Object({ keys: Type.Array(Text), knownHosts: Text })),
    /** Hosts for which plain http is allowed. */
    httpHosts: Type.Array(Text),
    /** Folders from which local repositories may be read. */
    localPaths: Type.Array(Text),
    /** Code that a person uploaded, fetched as the blob `source`; nothing is cloned then. */
    archive: Type.Optional(Type.Object({ sha256: Text, bytes: Count })),
    /** `repository` is a chart repository: this chart of it runs, and nothing is cloned. */
    chart: Type.Optional(
      Type.Object({
        name: Text,
        /** A version or a constraint; absent: the newest. */
        version: Type.Optional(Text),
      }),
    ),
  }),
  /**
   * In a plan phase: its apply follows without an approval. Absent otherwise.
   */
  isApprovalSkipped: Type.Optional(Type.Boolean()),
  /** In a plan phase: the costs of the plan are estimated, in a step of their own. Absent: no. */
  estimatesCosts: Type.Optional(Type.Boolean()),
  /**
   * In a plan phase: the agent stores the input of approval policies as the blob `policy-input`. Absent
   * otherwise.
   */
  isPolicyInputWanted: Type.Optional(Type.Boolean()),
  /** Shell commands of a task. */
  taskPayload: Type.Optional(Text),
  /**
   * Maximum number of repetitions of a failed apply. `errorRegex`: only if the output matches. `isReviewed`: a
   * person has approved the plan, or policies have judged it, so the plan of a retry must not contain more.
   */
  retry: Type.Optional(
    Type.Object({ times: Count, errorRegex: Type.Optional(Text), isReviewed: Type.Boolean() }),
  ),
  /** Tokens of private registries of modules and providers; each is sent to its host only. */
  registryCredentials: Type.Optional(Type.Array(Type.Object({ host: Text, token: Text }))),
  /** Credentials of clouds; not a part of what is approved. Absent: none. */
  credentials: Type.Optional(Type.Array(RunCredential)),
  variables: Type.Object({ environment: Type.Array(JobVariable), terraform: Type.Array(JobVariable) }),
  /** `ENVARIUM_…` names and values that every tool, hook and task of the run sees. */
  systemVariables: Type.Record(Text, Text),
  targets: Type.Array(Text),
  skipStateRefresh: Type.Boolean(),
  /** Resources that the plan imports into the state, unless they are in it already. Absent: none. */
  imports: Type.Optional(Type.Array(ResourceToImport)),
  state: Type.Object({
    /** Keep the state with us whatever backend the code names. */
    isForced: Type.Boolean(),
    current: Type.Optional(Type.Object({ stateVersionId: Text, serial: Count, lineage: Text, sha256: Text })),
  }),
  /** Values that are masked in everything that leaves the agent. */
  secrets: Type.Array(Text),
  /**
   * Only in what an agent has resolved: sentences about references to secret stores. With a failure, the run ends
   * in the step of its variables. No server sends it.
   */
  resolution: Type.Optional(Type.Object({ failures: Type.Array(Text), warnings: Type.Array(Text) })),
  /** Only in what an agent has prepared: what its cloud credentials have become. No server sends it. */
  delivered: Type.Optional(
    Type.Object({
      environment: Type.Record(Text, Text),
      /** In the folder for credentials. */
      files: Type.Array(
        Type.Object({
          name: Text,
          content: Text,
          /** Later contents with their times, as milliseconds since 1970; in the order of time. */
          later: Type.Optional(Type.Array(Type.Object({ from: Count, content: Text }))),
        }),
      ),
      versions: Type.Array(Text),
      /** The agent lets kubeconfig files start programs. Absent: it does not. */
      mayStartPrograms: Type.Optional(Type.Boolean()),
    }),
  ),
  limits: Type.Object({
    runSeconds: Count,
    abortSeconds: Count,
    offlineGraceSeconds: Count,
    stepLogBytes: Count,
    travelBytes: Count,
  }),
  /** In an apply phase: what was approved, and where it is. */
  approved: Type.Optional(
    Type.Object({
      hash: Text,
      parts: ApprovedParts,
      /** The attempt that planned, if the same agent did: its spool and tree may still be at hand. */
      continues: Type.Optional(HeldAttempt),
    }),
  ),
});
export type Job = Static<typeof Job>;

export const ClaimRequest = Type.Object({ epoch: Count, waitSeconds: Count });
export type ClaimRequest = Static<typeof ClaimRequest>;
export const ClaimReply = Type.Object({ job: Type.Union([Job, Type.Null()]) });
export type ClaimReply = Static<typeof ClaimReply>;
