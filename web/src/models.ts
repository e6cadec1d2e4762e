// Occupancy models: documents have all of them, and those of the other platform are null.
import * as format from './format';

export const MODELS = { resident: 'Resident', llvm: 'LLVM', hip: 'HIP', cuda: 'CUDA' } as const;
export type Name = keyof typeof MODELS;
export type ByModel<T> = { [name in Name]?: T | null };

/** The models that answer on the platform: those of the other are null or not there. */
export function answering<T>(models: ByModel<T>): { name: Name; model: T }[] {
  return (Object.keys(MODELS) as Name[]).flatMap((name) => { const model = modelOf(models, name); return model === null ? [] : [{ name, model }]; });
}

/** One model's answer; null: it is one of the other platform. */
export function modelOf<T>(models: ByModel<T>, name: Name): T | null {
  return models[name] ?? null;
}

/** What the hardware holds: the resident model on AMD's GPUs, CUDA's on NVIDIA's. */
export function hardwareModel<T>(models: ByModel<T>): { name: Name; model: T } {
  return answering(models)[0]!;
}

/** What limits a model's answer, in the words of the platform. */
export const limitersText = (model: { limiters: readonly string[] }): string => model.limiters.map(format.words).join(', ');
