package cli

import (
	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// labWords are the sentences of lab in one language.
type labWords struct {
	in language.Language

	asExpected, expectedWas       string
	result, cannotSay, buyer      string
	again, explore, noFlaw, cure  string
	diff, names, steps, promises  string
	broken, holds, unknown, claim string
	embedded, real                string
}

func labWordsIn(in language.Language) labWords {
	if in == language.Chinese {
		return labWords{
			in:          in,
			asExpected:  "符合预期",
			expectedWas: "预期是%s",
			result:      "\n%s：%s，%s：%s（%.1f 秒，%s Redis）\n\n",
			cannotSay:   "无法判断：%s。\n",
			buyer:       "  %s 的买家得到的响应：%s，用时 %.1f 秒\n",
			again:       "再来一次：%s %s\n",
			explore:     "所有的命令顺序：%s %s\n",
			noFlaw:      "\n没有哪一步有这个缺陷：%s。\n",
			cure:        "\n%s 到 %s 的修复：%s。\n",
			diff:        "全部改动：%s\n",
			names:       "实验",
			steps:       "缺陷，修复",
			promises:    "没有缺陷的锁承诺什么",
			broken:      "缺陷发生",
			holds:       "缺陷没有发生",
			unknown:     "未知",
			claim:       "%s：%s。\n",
			embedded:    "内嵌",
			real:        "真实",
		}
	}
	return labWords{
		in:          in,
		asExpected:  "as expected",
		expectedWas: "expected was %s",
		result:      "\n%s: %s, %s: %s (%.1f s, %s Redis)\n\n",
		cannotSay:   "It cannot be said: %s.\n",
		buyer:       "  the buyer at %s got %s after %.1f s\n",
		again:       "Again: %s %s\n",
		explore:     "In every order: %s %s\n",
		noFlaw:      "\nNo step has this flaw: %s.\n",
		cure:        "\nThe cure, from %s to %s: %s.\n",
		diff:        "All of it: %s\n",
		names:       "LAB",
		steps:       "FLAW, CURE",
		promises:    "WHAT A LOCK THAT HOLDS PROMISES",
		broken:      string(lab.Broken),
		holds:       string(lab.Holds),
		unknown:     string(lab.Unknown),
		claim:       "%s: %s.\n",
		embedded:    string(lab.Embedded),
		real:        string(lab.Real),
	}
}

// observed is what became of a lock, in words.
func (w labWords) observed(o lab.Observed) string {
	switch o {
	case lab.Broken:
		return w.broken
	case lab.Holds:
		return w.holds
	default:
		return w.unknown
	}
}

// redis is the kind of a Redis, in words.
func (w labWords) redis(kind string) string {
	if kind == string(lab.Embedded) {
		return w.embedded
	}
	return w.real
}
