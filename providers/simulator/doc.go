// Package simulator is the common part of simulated clouds. Their instances join a cluster as
// nodes that KWOK plays. The nodes leave when the instances end. A provider's simulator adds
// only its cloud's protocol.
//
//	c, err := simulator.Connect()
//	go c.Live(ctx, instance, times)     // once for each instance that was launched
//	err = simulator.Serve(ctx, address, handler)
package simulator
