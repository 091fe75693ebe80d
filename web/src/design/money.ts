/** Amounts of money as people read them. The code of the currency comes from a run: it is text, nothing more. */

const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;

/** Such as `151.80 USD`. */
export function moneyText(amount: number, currency = 'USD'): string {
  return `${amount.toLocaleString(undefined, digits)} ${currency}`;
}

/** Such as `+4.10 USD`. */
export function moneyChangeText(change: number, currency = 'USD'): string {
  const sign = change > 0 ? '+' : change < 0 ? '−' : '±';
  return `${sign}${moneyText(Math.abs(change), currency)}`;
}
