import { Page } from '../../ui/Page.tsx';

export function TemplatesPage() {
  return (
    <Page title="Templates" calls={[]}>
      stub
    </Page>
  );
}
