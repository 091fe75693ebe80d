/** What to do about a lock file that was made on a machine of another platform. */
import type { TemplateType } from '#contract/schema/enumerations.ts';
import { ownPlatform } from '../own-platform.ts';

const mismatch = /checksums\s+(previously\s+)?recorded\s+in\s+the\s+dependency\s+lock\s+file/;

const programs: Readonly<Partial<Record<TemplateType, string>>> = {
  terraform: 'terraform',
  opentofu: 'tofu',
  terragrunt: 'terragrunt run --',
};

/** @returns advice for a message of the tool about checksums; null for any other */
export function lockFileAdvice(tool: TemplateType, message: string): string | null {
  const program = programs[tool];
  if (program === undefined || !mismatch.test(message)) return null;
  return `If the lock file was made on another platform, it does not have the checksums for the agent's: run "${program} providers lock -platform=${ownPlatform}" with a -platform for each platform that you use, and commit .terraform.lock.hcl.`;
}
