import { Page } from '../../ui/Page.tsx';

export function CredentialsPage() {
  return (
    <Page title="Credentials" calls={[]}>
      stub
    </Page>
  );
}
