/** Registers an agent: it gets an epoch, which invalidates every older holder of its spool. */
import { protocolVersion, type RegisterReply, type RegisterRequest } from '#protocol/messages/agent.ts';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { upsertAgentProcess } from '../../rows/agents/process-store.ts';
import { noteSecretUse } from '../../rows/agents/secret-store.ts';
import { agentSettings } from './agent-settings.ts';
import { issueToken } from './agent-token.ts';
import type { CallingKey } from './authenticate-agent.ts';
import { compareHeld } from './compare-held.ts';
import { DispatchRefusal } from './messages/refusals.ts';

function checkVersion(version: RegisterRequest['protocol']): void {
  const isFit = version.major === protocolVersion.major && version.minor >= protocolVersion.minor - 1;
  if (!isFit) {
    throw new DispatchRefusal(
      'protocol_version',
      `This service speaks agent protocol ${protocolVersion.major}.${protocolVersion.minor}, the agent ${version.major}.${version.minor}: update the older one`,
    );
  }
}

/** Stored facts of a process that registers. */
function processColumns(context: Context, agentKey: string, request: RegisterRequest) {
  return {
    id: context.newId(),
    spool_id: request.spoolId,
    agent_key: agentKey,
    boot_id: request.bootId,
    hostname: request.hostname,
    process_id: request.processId,
    version: request.agentVersion,
    tools: request.tools,
    work_folder: request.workFolder,
    slots: request.slots,
    isolation: JSON.stringify(request.isolation),
    condition: null,
    said_goodbye: false,
    contact_at: context.now(),
    registered_at: context.now(),
  };
}

/** The runs in a spool belong to the key that they were assigned to, even if another agent learns the spool's id. */
function spoolTaken({ spoolId }: RegisterRequest): DispatchRefusal {
  const text = `The spool ${spoolId} belongs to another agent key: start this agent with that key, or with another folder in ENVARIUM_SPOOL_DIR`;
  return new DispatchRefusal('spool_taken', text);
}

/** @throws DispatchRefusal `protocol_version`, `spool_taken` */
export async function registerAgent(
  context: ActorContext,
  { agentKey, onlyOrganizationId, secretId, secretEnd }: CallingKey,
  request: RegisterRequest,
): Promise<RegisterReply> {
  checkVersion(request.protocol);
  const agentProcess = await inTransaction({ ...context, db: context.reserved }, async (context) => {
    const row = await upsertAgentProcess(context.db, processColumns(context, agentKey, request));
    if (!row) throw spoolTaken(request);
    await noteSecretUse(context.db, secretId, context.now());
    const { hostname, spoolId, agentVersion } = request;
    await recordAudit(context, {
      organizationId: onlyOrganizationId,
      action: 'agent.registered',
      entityId: agentKey,
      details: { agentId: row.id, epoch: row.epoch, secretId, hostname, spoolId, agentVersion },
    });
    return row;
  });
  const { id: agentId, epoch } = agentProcess;
  const unwanted = await compareHeld(context, agentProcess, request.held as HeldAttempt[]);
  const { hostname, agentVersion: version, tools, held } = request;
  context.log.info(
    { agentId, agentKey, hostname, version, tools, epoch, held: held.length },
    'agent registered',
  );
  return {
    agentId,
    epoch,
    token: issueToken(context, { agentKey, agentId, epoch, secretId }, secretEnd),
    settings: agentSettings(context.settings),
    now: context.now().toISOString(),
    unwanted,
  };
}
