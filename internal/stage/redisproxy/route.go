package redisproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/proto"
)

// route is one connection of a client, and the one to Redis that belongs to it.
type route struct {
	proxy          *Proxy
	client, server net.Conn

	mu         sync.Mutex
	awaiting   []awaited // the replies that Redis owes, in order
	subscribes bool      // it is a subscriber's: messages come between the answers
}

// awaited is the reply to a command.
type awaited struct {
	trap    *Trap // of the command; nil of one that is not caught
	unheard bool  // the command is sent once more, and its client gets that reply
}

var errLost = errors.New("this connection is lost with its command")

// run ends when both directions have ended.
func (r *route) run() {
	var replies sync.WaitGroup
	replies.Go(func() {
		r.passReplies()
		r.close() // also for the client's side
	})
	if err := r.passCommands(); errors.Is(err, errLost) {
		r.close()
	} else if tcp, is := r.server.(*net.TCPConn); is {
		_ = tcp.CloseWrite() // Redis first gets what was sent, and answers
	}
	replies.Wait()
}

func (r *route) close() {
	_ = r.client.Close() // either may be closed already
	_ = r.server.Close()
}

func (r *route) passCommands() error {
	commands := bufio.NewReader(r.client)
	for {
		raw, err := proto.Read(commands)
		if err != nil {
			return err
		}
		args, err := proto.ReadStrings(raw)
		if err != nil {
			return err
		}
		trap := r.proxy.trapFor(args, false)
		if err := trap.await(); err != nil {
			return err
		}
		r.proxy.awaitHang()
		replies := []awaited{{trap: trap}}
		if trap != nil && trap.fate == Resend {
			replies = []awaited{{unheard: true}, {trap: trap}}
		}
		if err := r.send(args[0], raw, replies); err != nil {
			return err
		}
	}
}

// send sends a command to Redis as often as there are replies to come.
func (r *route) send(name, raw string, replies []awaited) error {
	r.mu.Lock()
	r.awaiting = append(r.awaiting, replies...)
	r.subscribes = r.subscribes || strings.EqualFold(name, "subscribe")
	r.mu.Unlock()
	_, err := io.WriteString(r.server, strings.Repeat(raw, len(replies)))
	return err
}

// await waits until a command may go on to Redis; nil is the trap of one that was not caught. It fails with errLost if it never may.
func (t *Trap) await() error {
	switch {
	case t == nil || t.fate == LoseReply || t.fate == HoldReply || t.fate == Resend:
		return nil
	case t.fate == LoseRequest:
		close(t.caught)
		return errLost
	}
	close(t.caught)
	return t.decision()
}

// decision waits until a command or a reply that is held may pass. It fails with errLost if it never may.
func (t *Trap) decision() error {
	<-t.decided
	if !t.passes {
		return errLost
	}
	return nil
}

// reply waits until the reply to a command may go on to its client. It fails with errLost if it never may.
func (t *Trap) reply() error {
	if t == nil {
		return nil
	}
	close(t.answered)
	switch t.fate {
	case LoseReply:
		close(t.caught) // first: who then hears of its client's failure knows why
		return errLost
	case HoldReply:
		close(t.caught)
		return t.decision()
	case Resend:
		close(t.caught)
	case Hold, LoseRequest, LoseMessage: // it was caught before, or is no reply
	}
	return nil
}

func (r *route) passReplies() {
	replies := bufio.NewReader(r.server)
	for {
		raw, err := proto.Read(replies)
		if err != nil {
			return
		}
		if message := r.message(raw); message != nil {
			if trap := r.proxy.trapFor(message, true); trap != nil {
				close(trap.caught)
				continue
			}
		} else if reply := r.answered(); reply.unheard {
			continue
		} else if reply.trap.reply() != nil {
			r.close()
			return
		}
		if _, err := io.WriteString(r.client, raw); err != nil {
			continue // its client has left; Redis is heard to the end
		}
	}
}

// message gives the words of a message to a subscriber, nil if it is an answer.
func (r *route) message(raw string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.subscribes {
		return nil
	}
	if words, err := proto.ReadStrings(raw); err == nil && len(words) == 3 && words[0] == "message" {
		return words
	}
	return nil
}

// answered gives what is known of a reply that has come.
func (r *route) answered() awaited {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.awaiting) == 0 {
		return awaited{}
	}
	reply := r.awaiting[0]
	r.awaiting = r.awaiting[1:]
	return reply
}
