package faulty

import (
	"bytes"
	"crypto/md5" //nolint:gosec // SQS prescribes it
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// lie makes a call, or another one, and returns what the provider takes for the answer.
type lie func(*call) *answer

// lies returns every lie by its name. Each has a memory of its own.
func lies() map[string]lie {
	return map[string]lie{
		// Launches.
		"launches-untagged-spares":       on("CreateFleet", launchesUntagged),
		"launches-again-after-refusals":  launchesTwiceAfter(refused),
		"launches-again-when-slow":       on("CreateFleet", launchesWhenSlow),
		"launches-again-unless-listed":   on("CreateFleet", launchesUnlessListed),
		"launches-again-without-answers": on("CreateFleet", launchesWithoutAnswer),
		"launches-what-it-gave-up":       on("CreateFleet", launchesTwiceAfter(gaveUp)),

		// Instances.
		"ends-the-oldest-as-well": on("TerminateInstances", endsOldest()),
		"ends-instances-late":     on("TerminateInstances", endsLate()),
		"ends-no-strangers":       on("TerminateInstances", endsNoStrangers),
		"mistakes-hypervisors":    on("DescribeInstanceTypes", mistakesHypervisors),

		// What the cloud announces.
		"ends-announced-instances-early":     on("ReceiveMessage", endsAnnounced),
		"takes-rebalances-for-interruptions": on("ReceiveMessage", takesRebalances),
	}
}

// on limits a lie to the calls of an action.
func on(action string, tell lie) lie {
	return func(c *call) *answer {
		if c.action != action {
			return c.pass()
		}
		return tell(c)
	}
}

// launchesUntagged launches another instance each time, without the tag by which the provider finds its own.
func launchesUntagged(c *call) *answer {
	a := c.pass()
	if a.lost || a.Status != http.StatusOK {
		return a
	}
	form := url.Values{}
	for key, values := range c.form {
		if form[key] = values; values[0] == "karpenter.sh/nodepool" {
			form.Set(key, "nodepool")
		}
	}
	form.Del("ClientToken")
	c.with(form)
	return a
}

// launchesTwiceAfter launches twice after a call that has failed in some way, as if both the client and its caller
// tried again.
func launchesTwiceAfter(failed func(*call, *answer) bool) lie {
	var again atomic.Bool
	return func(c *call) *answer {
		a := c.pass()
		switch {
		case failed(c, a):
			again.Store(true)
		case c.action == "CreateFleet" && a.Status == http.StatusOK && again.CompareAndSwap(true, false):
			c.again()
		}
		return a
	}
}

// refused reports whether the cloud is busy or broken.
func refused(_ *call, a *answer) bool { return a.Status >= http.StatusInternalServerError }

// gaveUp reports whether the provider waits no longer for the answer.
func gaveUp(c *call, a *answer) bool { return a.lost && c.gaveUp() }

// launchesWhenSlow takes a slow answer for none.
func launchesWhenSlow(c *call) *answer {
	began := time.Now()
	a := c.pass()
	if time.Since(began) >= slow {
		c.again()
	}
	return a
}

// launchesUnlessListed takes an instance that the cloud doesn't list yet for one that wasn't launched.
func launchesUnlessListed(c *call) *answer {
	a := c.pass()
	for _, id := range instances(a.Body) {
		if c.ec2("DescribeInstances", url.Values{"InstanceId.1": {id}}).Status != http.StatusOK {
			c.again()
		}
	}
	return a
}

// launchesWithoutAnswer takes a lost answer for a failed launch, until there is an answer, and once more.
func launchesWithoutAnswer(c *call) *answer {
	a := c.pass()
	if a.lost && !c.gaveUp() {
		c.again()
		return c.again()
	}
	return a
}

// instance matches the ID of an instance.
var instance = regexp.MustCompile(`\bi-[0-9a-f]{17}\b`)

// instances returns the IDs of the instances that a text names, each once.
func instances(text []byte) (ids []string) {
	for _, id := range instance.FindAllString(string(text), -1) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// endsOldest ends the oldest instance as well, the first time that it ends one.
func endsOldest() lie {
	var done atomic.Bool
	return func(c *call) *answer {
		running := url.Values{"Filter.1.Name": {"instance-state-name"}, "Filter.1.Value.1": {"running"}}
		for _, id := range instances(c.ec2("DescribeInstances", running).Body) {
			if bytes.Contains(c.body, []byte(id)) || !done.CompareAndSwap(false, true) {
				continue
			}
			form := maps.Clone(c.form)
			form.Set("InstanceId."+strconv.Itoa(len(instances(c.body))+1), id)
			return c.with(form)
		}
		return c.pass()
	}
}

// endsLate fails to end an instance for a minute.
func endsLate() lie {
	const late = time.Minute
	var asked sync.Map // when it was first asked to end an instance, by ID
	return func(c *call) *answer {
		for _, id := range instances(c.body) {
			if first, _ := asked.LoadOrStore(id, time.Now()); time.Since(first.(time.Time)) < late {
				return xml(http.StatusInternalServerError, "<Response><Errors><Error><Code>InternalError</Code>"+
					"<Message>An internal error has occurred.</Message></Error></Errors><RequestID>lie</RequestID></Response>")
			}
		}
		return c.pass()
	}
}

// endsNoStrangers ends only instances that were launched for a NodeClaim, and says that it ends others.
func endsNoStrangers(c *call) *answer {
	ids := instances(c.body)
	form := url.Values{}
	for n, id := range ids {
		form.Set("InstanceId."+strconv.Itoa(n+1), id)
	}
	if bytes.Contains(c.ec2("DescribeInstances", form).Body, []byte("karpenter.sh/nodeclaim")) {
		return c.pass()
	}
	var ending strings.Builder
	for _, id := range ids {
		ending.WriteString("<item><instanceId>" + id +
			"</instanceId><currentState><code>32</code><name>shutting-down</name></currentState></item>")
	}
	return xml(http.StatusOK, "<TerminateInstancesResponse><instancesSet>"+ending.String()+
		"</instancesSet></TerminateInstancesResponse>")
}

// xml returns an answer of EC2's.
func xml(status int, body string) *answer {
	a := &answer{Answer: simulator.Answer{Status: status, Body: []byte(body)}}
	a.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	return a
}

// mistakesHypervisors takes one hypervisor for the other.
func mistakesHypervisors(c *call) *answer {
	a := c.pass()
	a.Body = bytes.ReplaceAll(a.Body, []byte("<hypervisor>nitro<"), []byte("<hypervisor>xen<"))
	return a
}

// messages is an answer of SQS.
type messages struct{ Messages []map[string]any }

// edit changes the bodies of the messages that the provider receives.
func (a *answer) edit(how func(body string) string) *answer {
	var all messages
	if a.lost || json.Unmarshal(a.Body, &all) != nil || len(all.Messages) == 0 {
		return a
	}
	for _, m := range all.Messages {
		text, _ := m["Body"].(string)
		text = how(text)
		sum := md5.Sum([]byte(text)) //nolint:gosec // as above
		m["Body"], m["MD5OfBody"] = text, hex.EncodeToString(sum[:])
	}
	a.Body, _ = json.Marshal(all) // what was JSON before
	return a
}

// The types of events. After the second and the third an instance ends.
const (
	rebalance    = "EC2 Instance Rebalance Recommendation"
	interruption = "EC2 Spot Instance Interruption Warning"
	health       = "AWS Health Event"
)

// takesRebalances takes the recommendation of a rebalance for an interruption.
func takesRebalances(c *call) *answer {
	return c.pass().edit(func(body string) string { return strings.ReplaceAll(body, rebalance, interruption) })
}

// endsAnnounced ends an instance three seconds after it hears that the cloud will, before its pods have ended.
func endsAnnounced(c *call) *answer {
	return c.pass().edit(func(body string) string {
		if strings.Contains(body, interruption) || strings.Contains(body, health) {
			time.AfterFunc(3*time.Second, func() {
				for _, id := range instances([]byte(body)) {
					c.ec2("TerminateInstances", url.Values{"InstanceId.1": {id}})
				}
			})
		}
		return body
	})
}
