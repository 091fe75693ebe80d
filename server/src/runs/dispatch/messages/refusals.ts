/** Refusals of the agent protocol, which agents distinguish by their code. */
import type { ProtocolRefusal } from '#protocol/messages/agent.ts';

export class DispatchRefusal extends Error {
  override readonly name = 'DispatchRefusal';
  readonly code: ProtocolRefusal;

  constructor(code: ProtocolRefusal, message: string) {
    super(message);
    this.code = code;
  }
}

/** The attempt is not one of the caller's, or does not exist. */
export class ForeignAttempt extends DispatchRefusal {
  constructor(message: string) {
    super('fence_outdated', message);
  }
}
