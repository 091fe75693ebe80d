/** The version in what `terraform version -json` prints, and OpenTofu's the same. */
export function readFamilyVersion(output: string): string {
  return (JSON.parse(output) as { terraform_version: string }).terraform_version;
}
