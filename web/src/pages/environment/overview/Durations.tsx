/** Durations of the last deployments, as a chart; its text contains the same. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { spanText } from '../../../ui/spans.ts';
import classes from '../facts/environment.module.css';
import { durationsOf, durationWords } from './durations.ts';

const height = 96;

/** Colours of the design, as they are in this scheme. */
function role(element: HTMLElement, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

function optionsFor(element: HTMLElement, failed: readonly boolean[]): uPlot.Options {
  const [ink, line, run, fail] = ['--e-ink-3', '--e-line', '--e-accent', '--e-fail'].map((name) =>
    role(element, name),
  );
  const axis = {
    stroke: ink!,
    grid: { stroke: line!, width: 1 },
    ticks: { show: false },
    font: '12px sans-serif',
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.6, failed.length - 0.4] },
      y: { range: (_, __, max) => [0, max || 1] },
    },
    axes: [
      { ...axis, show: false },
      { ...axis, size: 64, space: 32, values: (_, ticks) => ticks.map((tick) => spanText(tick * 1000)) },
    ],
    series: [
      {},
      {
        paths: uPlot.paths.bars!({
          size: [0.6, 28],
          disp: {
            fill: { unit: 3, values: () => failed.map((isFailed) => (isFailed ? fail! : run!)) },
          },
        }),
        fill: run!,
        points: { show: false },
      },
    ],
  };
}

export default function Durations({ deployments }: { readonly deployments: readonly Deployment[] }) {
  const place = useRef<HTMLDivElement>(null);
  const shown = durationsOf(deployments);
  const text = durationWords(shown);
  const key = JSON.stringify(shown);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const all = JSON.parse(key) as typeof shown;
    const options = optionsFor(
      element,
      all.map(({ isFailed }) => isFailed),
    );
    const chart = new uPlot(options, [all.map((_, at) => at), all.map(({ seconds }) => seconds)], element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [key]);
  if (shown.length < 3) return null;
  return (
    <figure className={classes.chart}>
      <div ref={place} className={classes.chartSpace} aria-hidden="true" />
      <figcaption>{text}</figcaption>
    </figure>
  );
}
