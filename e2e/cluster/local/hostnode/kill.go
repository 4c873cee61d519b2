package hostnode

import "fmt"

// Kill ends the containers of a pod by SIGKILL and returns when their processes are gone. They
// restart by the pod's restart policy and count as crashed, but without back-off. Init
// containers that are done do not restart.
func (n *Node) Kill(namespace, name string) error {
	var running []*process
	for _, c := range n.containersOf(namespace, name) {
		if p := c.kill(); p != nil {
			running = append(running, p)
		}
	}
	if len(running) == 0 {
		return fmt.Errorf("killing pod %s/%s: no container of it runs on node %s", namespace, name, Name)
	}
	for _, p := range running {
		<-p.done
	}
	return nil
}

// containersOf lists the containers of a pod of this node; none if there is no such pod.
func (n *Node) containersOf(namespace, name string) []*container {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if latest := p.object(); latest.Namespace == namespace && latest.Name == name {
			return p.containers()
		}
	}
	return nil
}

// kill sends SIGKILL to the running process, and returns it; nil if there is none.
func (c *container) kill() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		return nil
	}
	c.killed = true
	c.running.kill()
	return c.running
}

// wasKilled reports whether Kill ended the last process.
func (c *container) wasKilled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed
}
