/** Shows the events of a deployment's stream as text: its log, its steps with their durations, its waits. */
import type { Step } from '#contract/deployments/shapes.ts';
import type { DeploymentStatusEvent, DeploymentStreamEvent } from '#contract/feeds/shapes.ts';
import type { CommandSession } from '../session/session.ts';
import { durationBetween } from '../terminal/durations.ts';
import { LogPrinter } from '../terminal/log-printer.ts';
import { plain } from '../terminal/safe-text.ts';

export interface ShownEvents {
  /** Only the log of this step. */
  readonly step?: string;
  /** Steps that were shown before. */
  readonly hiddenSteps?: ReadonlySet<string>;
}

/** Whether nothing more happens in a step. */
export const isOver = (step: Step) =>
  !['NOT_STARTED', 'IN_PROGRESS', 'WAITING_FOR_USER'].includes(step.status);

/** Reason why a deployment waits, unless a person decides about it; empty if it does not wait. */
export function waitText({ status, waitingFor }: DeploymentStatusEvent): string {
  if (status === 'ABORTING') return 'Aborting';
  return waitingFor && waitingFor.kind !== 'approval' ? plain(waitingFor.text) : '';
}

export class EventPrinter {
  readonly #output: CommandSession['output'];
  readonly #log: LogPrinter;
  readonly #shown: ShownEvents;
  #headed = '';
  #lastWait = '';
  /** The stream repeats what happened before the approval, which was shown before. */
  #isBeforeApproval: boolean;

  constructor(output: CommandSession['output'], shown: ShownEvents) {
    this.#output = output;
    this.#log = new LogPrinter(output);
    this.#shown = shown;
    this.#isBeforeApproval = shown.hiddenSteps !== undefined;
  }

  async print(event: DeploymentStreamEvent): Promise<void> {
    if (event.event === 'log' && this.#isShown(event.data.step)) {
      await this.#head(event.data.step);
      await this.#log.print(event.data);
    }
    if (this.#shown.step !== undefined) return;
    if (event.event === 'step' && this.#isShown(event.data.name)) await this.#step(event.data);
    if (event.event === 'status') await this.#status(event.data);
  }

  async end(): Promise<void> {
    await this.#log.endLine();
  }

  #isShown(step: string): boolean {
    if (this.#shown.step !== undefined) return step === this.#shown.step;
    return this.#shown.hiddenSteps?.has(step) !== true;
  }

  async #head(step: string): Promise<void> {
    if (step === this.#headed || this.#shown.step !== undefined) return;
    await this.#log.endLine();
    this.#headed = step;
    await this.#output.line(
      this.#output.style(['bold', 'cyan'], `${this.#output.signs('▸')} ${plain(step)}`),
    );
  }

  async #step(step: Step): Promise<void> {
    if (step.status === 'IN_PROGRESS') return this.#head(step.name);
    if (!isOver(step) || step.status === 'SKIPPED') return;
    await this.#log.endLine();
    const duration = durationBetween(step.startedAt, step.completedAt);
    const text = `${plain(step.name)}${duration === '' ? '' : ` (${duration})`}`;
    const isGood = step.status === 'SUCCESS';
    const colour = isGood ? 'green' : step.status === 'WARNING' ? 'yellow' : 'red';
    const line = isGood
      ? `${this.#output.signs('✔')} ${text}`
      : `${this.#output.signs('✖')} ${text} ${step.status}`;
    await this.#output.line(this.#output.style(colour, line));
  }

  async #status(event: DeploymentStatusEvent): Promise<void> {
    const text = waitText(event);
    if (event.status === 'WAITING_FOR_USER') this.#isBeforeApproval = false;
    if (text === '' || text === this.#lastWait || this.#isBeforeApproval) return;
    this.#lastWait = text;
    await this.#log.endLine();
    await this.#output.line(this.#output.style('dim', `${this.#output.signs('…')} ${text}`));
  }
}
