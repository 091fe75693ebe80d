import { Page } from '../../ui/Page.tsx';

export function ProjectPage() {
  return (
    <Page title="Project" calls={[]}>
      stub
    </Page>
  );
}
