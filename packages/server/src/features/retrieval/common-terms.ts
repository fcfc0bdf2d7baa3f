/**
 * Stems that are common in any code, by the weight they keep. Source: the share of chunks that have the stem, the third
 * smallest of six packages of the tuning set (so that one package's own vocabulary does not count as common); the weight is
 * the square root of its inverse frequency, 1 at a share of 2 %.
 */
const stemsByWeight: readonly [weight: number, stems: string][] = [
  [0.55, 'string typ'],
  [0.65, 'error option undefin null new'],
  [0.7, 'id numb object get arrai set'],
  [0.75, 'extend valu respons not nam boolean tru typeof 0 result cre throw data fals async await'],
  [0.8, 'prom 1 json default unknown max record key input length start messag map'],
  [0.85, 'request valid context cod execut resolv any use index no s field must pars invalid'],
  [
    0.9,
    'read cas support user onli includ try fail 2 check call catch t end handl filt push add output oper current match 8 raw all bodi',
  ],
  [
    0.95,
    'used path convert fil event never construct upd tim break one 4 first after allow custom befor final requir next without',
  ],
]

const weights: ReadonlyMap<string, number> = new Map(
  stemsByWeight.flatMap(([weight, stems]) => stems.split(' ').map((stem) => [stem, weight] as const)),
)

/** 1 for a term that is not common. */
export function commonTermWeight(term: string): number {
  return weights.get(term) ?? 1
}
