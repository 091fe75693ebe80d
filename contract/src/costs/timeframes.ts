/** Timeframes of budgets, apart from the schemas: the command line starts without those. */

/** Period after which the amount of a budget is available again. */
export const budgetTimeframes = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'YEARLY'] as const;
export type BudgetTimeframe = (typeof budgetTimeframes)[number];
