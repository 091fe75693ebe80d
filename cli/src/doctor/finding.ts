/** What a check has found. */

export const standings = ['ok', 'warning', 'problem'] as const;
export type Standing = (typeof standings)[number];

export interface Finding {
  /** What was looked at, as `git` or `agents`. */
  readonly check: string;
  readonly standing: Standing;
  /** What is there, or what is wrong; never a secret. */
  readonly text: string;
  /** What to do; absent where nothing is wrong. */
  readonly advice?: string;
}

export const ok = (check: string, text: string): Finding => ({ check, standing: 'ok', text });
export const warning = (check: string, text: string, advice: string): Finding => ({
  check,
  standing: 'warning',
  text,
  advice,
});
export const problem = (check: string, text: string, advice: string): Finding => ({
  check,
  standing: 'problem',
  text,
  advice,
});

/** A check that fails itself is a problem of its own, and ends no other. */
export async function guarded(
  check: string,
  look: () => Promise<readonly Finding[]> | readonly Finding[],
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [
      problem(
        check,
        `cannot be checked: ${(error as Error).message}`,
        'Correct this first, and run the doctor again.',
      ),
    ];
  }
}
