// Package compare tells what another release, image, gate or setting of Karpenter makes of the same workload: figures
// of two cells as ratios, with the noise that they have.
//
//	c := &compare.Comparison{Cells: []compare.Cell{a, b}, Runs: runs, ...}
//	c.Compare()
//	err = c.WritePage(file)
//
// # When figures differ
//
// Each cell is run several times. A figure's ratio is the median of B's runs by the median of A's. Its noise is the
// range of the ratios of any two runs of the same cell. The verdict is "differs" only if the ratio is outside of twice
// the noise, and each of B's runs is on the same side of all of A's. So with three runs each, of two hundred figures
// that are the same, one is said to differ by chance: the test of this package counts them. With two runs it is one
// of fourteen. Less than two percent never counts. With one run there is no noise to compare with, and nothing is said
// to differ.
package compare
