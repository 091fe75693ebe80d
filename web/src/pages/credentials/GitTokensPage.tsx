import { Page } from '../../ui/Page.tsx';

export function GitTokensPage() {
  return (
    <Page title="Git tokens" calls={[]}>
      stub
    </Page>
  );
}
