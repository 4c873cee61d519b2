// Package simulator is what simulated clouds have in common: their instances join a cluster
// as nodes that KWOK plays, and leave it when they end, as kubelets and a cloud controller
// manager see to elsewhere. A provider's simulator adds only its cloud's own protocol.
//
//	c, err := simulator.Connect(version)
//	go c.Live(ctx, instance, times)     // once for each instance that was launched
//	err = simulator.Serve(ctx, address, handler)
package simulator
