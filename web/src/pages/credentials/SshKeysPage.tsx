import { Page } from '../../ui/Page.tsx';

export function SshKeysPage() {
  return (
    <Page title="Ssh keys" calls={[]}>
      stub
    </Page>
  );
}
