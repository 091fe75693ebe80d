/**
 * Version constraints of terraform and opentofu (`>= 1.4, < 2.0`, `~> 1.2`), which npm reads differently: `~>
 * 1.2` is everything from 1.2.0 up to but excluding 2.0.0, `~> 1.2.3` up to but excluding 1.3.0.
 */
import { compare, parse } from 'semver';

const operators = ['=', '!=', '>', '>=', '<', '<=', '~>'] as const;
export type Operator = (typeof operators)[number];

/** One condition, such as `>= 1.4`. */
export interface Constraint {
  readonly operator: Operator;
  /** Numbers as written: `1.4` has two. */
  readonly segments: readonly number[];
  /** `beta1` of `1.4.0-beta1`, empty for a release. */
  readonly prerelease: string;
}

const pattern =
  /^(=|!=|>|<|>=|<=|~>|)\s*v?([0-9]+(?:\.[0-9]+)*)(?:-?([A-Za-z~][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*)|-([0-9][0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*))?(?:\+[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*)?$/;

/**
 * Reads conditions separated by commas; all of them must hold.
 * @throws Error that quotes the invalid part
 */
export function parseConstraints(text: string): Constraint[] {
  return text.split(',').map((written) => {
    const part = written.trim();
    const found = pattern.exec(part);
    const segments = found?.[2]?.split('.').map(Number) ?? [];
    if (!found || !segments.every(Number.isSafeInteger))
      throw new Error(
        `${JSON.stringify(part)} is not a version constraint: it consists of one of ${operators.join(' ')} and a version, as in ">= 1.4, < 2.0"`,
      );
    return { operator: (found[1] || '=') as Operator, segments, prerelease: found[3] ?? found[4] ?? '' };
  });
}

/**
 * Whether a version meets all conditions. A prerelease meets only those that name a prerelease of the same
 * numbers.
 * @param version a semantic version; anything else meets none
 */
export function satisfies(version: string, constraints: readonly Constraint[]): boolean {
  return constraints.every((constraint) => meets(version, constraint));
}

function meets(version: string, constraint: Constraint): boolean {
  const candidate = parse(version);
  if (!candidate) return false;
  const isPrerelease = candidate.prerelease.length > 0;
  const { operator, segments, prerelease } = constraint;
  const order = compareTo(version, constraint);
  if (operator === '=') return order === 0;
  if (operator === '!=') return order !== 0;
  const numbers = [candidate.major, candidate.minor, candidate.patch];
  if (isPrerelease && !(prerelease !== '' && isSame(numbers, segments))) return false;
  if (operator === '~>')
    return order >= 0 && (prerelease === '' || isPrerelease) && hasPrefix(numbers, segments);
  return operator === '>'
    ? order > 0
    : operator === '>='
      ? order >= 0
      : operator === '<'
        ? order < 0
        : order <= 0;
}

/** Negative: the version is older than the constraint's. Numbers that were not written count as 0. */
function compareTo(version: string, { segments, prerelease }: Constraint): number {
  const [major = 0, minor = 0, patch = 0, ...further] = segments;
  const other = parse(
    `${major}.${minor}.${patch}${prerelease === '' ? '' : `-${prerelease.replaceAll('~', '-')}`}`,
    { loose: true },
  );
  const order = other ? compare(version, other) : -1;
  return order === 0 && further.some((number) => number > 0) ? -1 : order;
}

/** All numbers but the last written one must be equal. */
function hasPrefix(numbers: readonly number[], segments: readonly number[]): boolean {
  return (
    segments.length <= numbers.length &&
    segments.slice(0, -1).every((segment, index) => segment === numbers[index])
  );
}

function isSame(numbers: readonly number[], segments: readonly number[]): boolean {
  return (
    numbers.every((number, index) => number === (segments[index] ?? 0)) &&
    segments.slice(3).every((segment) => segment === 0)
  );
}
