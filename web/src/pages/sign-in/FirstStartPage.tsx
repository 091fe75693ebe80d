export function FirstStartPage() {
  return <main>stub</main>;
}
