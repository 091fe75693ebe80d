/** Budgets of projects. */
import type { Command } from 'commander';
import type { Budget } from '#contract/costs/shapes.ts';
import { type BudgetTimeframe, budgetTimeframes } from '#contract/costs/timeframes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { projectOf } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import { optionOf } from '../../terminal/suggest.ts';

interface SetBudgetFlags {
  readonly amount: string;
  readonly timeframe: BudgetTimeframe;
  readonly threshold?: string[];
}

async function show({ output, isJson }: CommandSession, budget: Budget): Promise<void> {
  if (isJson) return output.json(budget);
  return output.fields([
    ['Amount', String(budget.amount)],
    ['Timeframe', budget.timeframe.toLowerCase()],
    ['Thresholds', budget.thresholds.map((threshold) => `${threshold} %`).join(', ')],
    ['Id', budget.id],
  ]);
}

/** @throws BadCall */
function numberOf(flag: string, text: string, form: RegExp, meaning: string): number {
  if (!form.test(text)) throw new BadCall(`${flag} must be ${meaning}, not "${text}".`);
  return Number(text);
}

export function addBudgetCommands(program: Command): void {
  const group = program
    .command('budget')
    .alias('budgets')
    .description('budgets of projects (not yet in effect)');

  onCall(
    group.command('show <project>').description("show a project's budget"),
    async ({ session, args: [name = ''] }) => {
      const { id: projectId } = await projectOf(session, name);
      return show(session, await session.client.call('getBudget', { params: { projectId } }));
    },
  );

  const set = group
    .command('set <project>')
    .description('set the budget of a project, or replace it')
    .requiredOption('--amount <number>', 'what the project may cost in the timeframe')
    .addOption(
      optionOf(
        '--timeframe <timeframe>',
        'how often the amount is available again',
        budgetTimeframes,
      ).makeOptionMandatory(),
    )
    .option('--threshold <percent>', 'percentage at which people are notified; may be repeated', gather);
  onCall<SetBudgetFlags>(set, async ({ session, args: [name = ''], options }) => {
    const amount = numberOf('--amount', options.amount, /^\d+(\.\d+)?$/, 'a number');
    const thresholds = (options.threshold ?? []).map((text) =>
      numberOf('--threshold', text, /^\d+$/, 'a whole number of percent'),
    );
    const { id: projectId } = await projectOf(session, name);
    const body = { amount, timeframe: options.timeframe, thresholds };
    return show(session, await session.client.call('setBudget', { params: { projectId }, body }));
  });

  onCall(
    group.command('delete <project>').description("delete a project's budget"),
    async ({ session, args: [name = ''] }) => {
      const { id: projectId } = await projectOf(session, name);
      const deleted = await session.client.call('deleteBudget', { params: { projectId } });
      return session.answer(deleted, `The budget of ${plain(name)} was deleted`);
    },
  );
}
