package sdktest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// client is an SQS client for the region's queue.
type client struct {
	*sqs.Client
	url *string
}

func (r *region) client(t *testing.T) client {
	t.Helper()
	c := sqs.NewFromConfig(r.config)
	out, err := c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("queue")})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return client{c, out.QueueUrl}
}

// receive receives messages and hides them for some seconds; 0: 30 seconds.
func (c client) receive(t *testing.T, most, hide, wait int32) []types.Message {
	t.Helper()
	out, err := c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: c.url, MaxNumberOfMessages: most, VisibilityTimeout: hide, WaitTimeSeconds: wait,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return out.Messages
}

func (c client) remove(t *testing.T, m types.Message) {
	t.Helper()
	_, err := c.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: c.url, ReceiptHandle: m.ReceiptHandle})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func body(m types.Message) string { return *m.Body }

func TestNoQueue(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c := r.client(t)
	g.Expect(*c.url).To(HaveSuffix("/111122223333/queue"))
	_, err := c.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("other")})
	g.Expect(err).To(BeA[*types.QueueDoesNotExist]())
	_, err = c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String("http://localhost/other")})
	g.Expect(err).To(BeA[*types.QueueDoesNotExist]())
	_, err = c.DeleteMessage(t.Context(),
		&sqs.DeleteMessageInput{QueueUrl: aws.String("http://localhost/other"), ReceiptHandle: aws.String("x")})
	g.Expect(err).To(BeA[*types.QueueDoesNotExist]())
}

func TestMessages(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c := r.client(t)
	sent, err := c.SendMessage(t.Context(),
		&sqs.SendMessageInput{QueueUrl: c.url, MessageBody: aws.String(`{"a": "ä <&>"}`)})
	g.Expect(err).NotTo(HaveOccurred())
	r.Send("second")
	r.Send("third")
	g.Expect(each(c.receive(t, 2, 0, 0), body)).To(Equal([]string{`{"a": "ä <&>"}`, "second"}))
	m := c.receive(t, 10, 0, 0)
	g.Expect(each(m, body)).To(Equal([]string{"third"}), "the others are hidden")
	g.Expect(*m[0].MessageId).NotTo(Equal(*sent.MessageId))
	g.Expect(m[0].Attributes).To(HaveKey("SentTimestamp"))
	g.Expect(c.receive(t, 10, 0, 0)).To(BeEmpty())
}

func TestACallGetsTenMessagesAtMost(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c := r.client(t)
	_, err := r.AnnounceMany(25)
	g.Expect(err).NotTo(HaveOccurred())
	for _, wanted := range []int{10, 10, 5, 0} {
		g.Expect(c.receive(t, 10, 0, 0)).To(HaveLen(wanted))
	}
	_, err = c.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: c.url, MaxNumberOfMessages: 11})
	g.Expect(err).To(MatchError(ContainSubstring("InvalidParameterValue: Value 11 for parameter MaxNumberOfMessages")))
}

func TestVisibility(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c := r.client(t)
	r.Send("kept")
	r.Send("deleted")
	first := c.receive(t, 10, 1, 0)
	g.Expect(first).To(HaveLen(2))
	c.remove(t, first[1])
	g.Expect(c.receive(t, 10, 1, 0)).To(BeEmpty())

	again := c.receive(t, 10, 1, 5) // waits until the message is visible again
	g.Expect(each(again, body)).To(Equal([]string{"kept"}))
	g.Expect(again[0].MessageId).To(Equal(first[0].MessageId))
	c.remove(t, first[0])
	third := c.receive(t, 10, 1, 5)
	g.Expect(each(third, body)).To(Equal([]string{"kept"}), "an old receipt deletes nothing")
	c.remove(t, third[0])
	g.Expect(c.receive(t, 10, 1, 2)).To(BeEmpty())
}

func TestLongPoll(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c, start := r.client(t), time.Now()
	time.AfterFunc(100*time.Millisecond, func() { r.Send("late") })
	g.Expect(each(c.receive(t, 10, 20, 20), body)).To(Equal([]string{"late"}))
	g.Expect(time.Since(start)).To(BeNumerically("<", 5*time.Second))
}

// event holds the fields that Karpenter reads from a message of EventBridge.
type event struct {
	Version, Source, Account, Region string
	DetailType                       string `json:"detail-type"`
	Time                             time.Time
	Resources                        []string
	Detail                           map[string]any
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		happens            func(*cloud.Cloud, *cloud.Instance) error
		source, detailType string
		detail             map[string]any // in addition to the instance's ID
	}{
		"interruption": {
			func(c *cloud.Cloud, i *cloud.Instance) error { return c.Interrupt(i.ID) },
			"aws.ec2", "EC2 Spot Instance Interruption Warning",
			map[string]any{"instance-action": "terminate"},
		},
		"rebalance": {
			func(c *cloud.Cloud, i *cloud.Instance) error { return c.Rebalance(i.ProviderID()) },
			"aws.ec2", "EC2 Instance Rebalance Recommendation",
			map[string]any{},
		},
		"state": {
			func(c *cloud.Cloud, i *cloud.Instance) error { return c.Fleet().End(i.ID) },
			"aws.ec2", "EC2 Instance State-change Notification",
			map[string]any{"state": "shutting-down"},
		},
		"maintenance": {
			func(c *cloud.Cloud, i *cloud.Instance) error { return c.Maintain(i.ID) },
			"aws.health", "AWS Health Event",
			map[string]any{"service": "EC2", "eventTypeCategory": "scheduledChange"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			r.template(t, "x86_64")
			id := r.launch(t, fleet(spot, 1, choice("x86_64", override("c5.large", subnetA))))[0]
			g.Expect(c.happens(r.Cloud, r.instance(t, id))).To(Succeed())
			m := r.client(t).receive(t, 10, 20, 20)
			g.Expect(m).To(HaveLen(1))
			var e event
			g.Expect(json.Unmarshal([]byte(*m[0].Body), &e)).To(Succeed())
			g.Expect([]string{e.Version, e.Source, e.DetailType, e.Account, e.Region}).
				To(Equal([]string{"0", c.source, c.detailType, r.Account(), "us-east-1"}))
			g.Expect(e.Resources).To(ConsistOf(HaveSuffix(id)))
			g.Expect(e.Time).To(BeTemporally("~", time.Now(), 5*time.Second))
			for key, want := range c.detail {
				g.Expect(e.Detail).To(HaveKeyWithValue(key, want))
			}
			if c.source == "aws.ec2" {
				g.Expect(e.Detail).To(HaveKeyWithValue("instance-id", id))
			} else {
				g.Expect(e.Detail).To(HaveKeyWithValue("affectedEntities", ConsistOf(HaveKeyWithValue("entityValue", id))))
			}
		})
	}
}
