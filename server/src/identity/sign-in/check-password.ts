/** Rules for passwords. */
import { badField } from '../../ground/errors.ts';

const leastLength = 12;
const mostLength = 1024;
const leastDifferent = 5;

/** Frequent choices among passwords that are long enough, without digits and signs around them. */
const commonCores = new Set(
  `password passwordpassword passphrase mypassword thisismypassword administrator administration adminadmin
  adminadminadmin letmein letmeinletmein welcome welcomewelcome qwertyuiop qwertyuiopasdf qwertyqwerty
  qwertzuiop asdfghjkl asdfghjklqwe zxcvbnm qwertyuiopasdfghjklzxcvbnm abcdefghijkl abcdefghijklm abcdef
  iloveyou iloveyouforever sunshine princess football baseball superman batman starwars trustno dragon monkey
  changeme changemechangeme changethis pleasechange default defaultpassword secret secretsecret topsecret
  correcthorsebatterystaple correct-horse-battery-staple temporary temppassword envarium envariumadmin terraform
  opentofu infrastructure company master masterkey rootroot rootpassword testtest testpassword test guest
  summer winter spring autumn hello helloworld login access unknown computer internet whatever liverpool
  chocolate basketball`.split(/\s+/),
);

/** Digits, signs and the usual replacements say little: `P4ssw0rd123!!` is `password`. */
function coreOf(password: string): string {
  const lower = password.toLowerCase();
  return lower
    .replaceAll(/^[^a-z@$]+|[^a-z]+$/g, '')
    .replaceAll(/[@4]/g, 'a')
    .replaceAll('3', 'e')
    .replaceAll(/[1!]/g, 'i')
    .replaceAll('0', 'o')
    .replaceAll(/[5$]/g, 's');
}

/** Whether every character follows the one before, upwards or downwards: `123456789012`, `abcdefghijkl`. */
function isSequence(password: string): boolean {
  const codes = Array.from(password, (character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0));
  return steps.filter((step) => Math.abs(step) === 1).length >= steps.length - 2;
}

/**
 * @param field of the request, as `body.newPassword`
 * @throws Refusal 400 that says what is wrong with the password
 */
export function checkNewPassword(field: string, password: string, email: string): void {
  const { length } = Array.from(password.normalize('NFKC'));
  if (length < leastLength)
    throw badField(field, `is too weak: use at least ${leastLength} characters, such as four random words`);
  if (length > mostLength) throw badField(field, `is too long: use at most ${mostLength} characters`);
  const lower = password.toLowerCase();
  const [localPart = ''] = email.toLowerCase().split('@');
  if (lower.includes(email.toLowerCase()) || coreOf(password) === localPart)
    throw badField(field, 'is too weak: do not use your e-mail address');
  if (new Set(lower).size < leastDifferent || isSequence(lower) || commonCores.has(coreOf(password)))
    throw badField(field, 'is too weak: it is one of the most common passwords; use four random words');
}
