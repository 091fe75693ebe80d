/** Types of columns that are text, numbers or JSON to the database. */
import type { BudgetTimeframe } from '#contract/costs/timeframes.ts';

export interface Columns {
  'budget.timeframe': BudgetTimeframe;
}
