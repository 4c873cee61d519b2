package hostnode

import (
	"errors"
	"fmt"
	"time"
)

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

// Skew sets how far the wall clocks of a pod's containers are ahead of the cluster's, from their
// next start on.
func (n *Node) Skew(namespace, name string, ahead time.Duration) error {
	if n.options.Clock == nil {
		return errors.New("the cluster has the machine's clock, so that no pod can have another")
	}
	all := n.containersOf(namespace, name)
	if len(all) == 0 {
		return fmt.Errorf("no container of pod %s/%s runs on node %s", namespace, name, Name)
	}
	for _, c := range all {
		c.mu.Lock()
		c.ahead = ahead
		c.mu.Unlock()
	}
	return nil
}

// lead returns how far the wall clock of the next process is ahead of the cluster's.
func (c *container) lead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
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
