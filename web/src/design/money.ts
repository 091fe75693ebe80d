/** Amounts of money as people read them. The code of the currency comes from a run: it is text, nothing more. */

const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;

/** Such as `151.80`, for columns that name the currency. */
export function amountText(amount: number): string {
  return amount.toLocaleString(undefined, digits);
}

/** Such as `+4.10`. */
export function amountChangeText(change: number): string {
  const sign = change > 0 ? '+' : change < 0 ? '−' : '±';
  return `${sign}${amountText(Math.abs(change))}`;
}

/** Such as `151.80 USD`. */
export function moneyText(amount: number, currency = 'USD'): string {
  return `${amountText(amount)} ${currency}`;
}

/** Such as `+4.10 USD`. */
export function moneyChangeText(change: number, currency = 'USD'): string {
  return `${amountChangeText(change)} ${currency}`;
}
