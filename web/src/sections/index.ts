// The sections of the page, in the order of reading.
import type { Section } from '../section';
import { activity, counters } from './activity';
import { autotune } from './autotune';
import { comparison } from './comparison';
import { criticalPath } from './criticalpath';
import { doctor } from './doctor';
import { inspection } from './inspection';
import { kernels } from './kernels';
import { missing } from './missing';
import { documents, warnings } from './notes';
import { occupancy } from './occupancy';
import { optimization } from './optimization';
import { pcSampling } from './pcsampling';
import { ranks } from './ranks';
import { replay } from './replay';
import { roofline } from './roofline';
import { segments } from './segments';
import { summary } from './summary';
import { threadTrace } from './threadtrace';
import { timeline } from './timeline';
import { verdicts } from './verdicts';
import { whatIf } from './whatif';

export const sections: Section[] = [
  summary, ranks, verdicts, optimization, comparison, kernels, roofline, timeline, criticalPath, whatIf, segments, occupancy, threadTrace, pcSampling,
  inspection, autotune, replay, activity, counters, doctor, warnings, missing, documents,
];
