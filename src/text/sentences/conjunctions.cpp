#include "text/sentences/conjunctions.hpp"

#include <algorithm>
#include <iterator>

namespace lapilli {
namespace {

struct Conjunctions {
  std::string_view language, words;
};

constexpr Conjunctions kConjunctions[] = {
    {"en",
     "and or but nor yet so because although though while whereas when where if unless until since that which who"},
    {"fr", "et ou mais donc or ni car parce puisque quand lorsque si comme que qui dont où tandis afin"},
    {"de", "und oder aber denn sondern weil dass obwohl während wenn als damit sodass wo"},
    {"es", "y e o u pero sino ni porque aunque cuando mientras si como que donde pues"},
    {"pt", "e ou mas nem porque embora quando enquanto se como que onde pois"},
    {"it", "e ed o od ma però né perché benché quando mentre se come che dove quindi"},
    {"nl", "en of maar want noch omdat hoewel terwijl toen als dat die waar zodat"},
    {"ca", "i o però sinó ni perquè encara quan mentre si com que on"},
    {"ro", "și sau dar ci nici pentru deși când dacă că care unde"},
    {"sv", "och eller men utan för eftersom fast medan när om att som där"},
    {"da", "og eller men for fordi selvom mens når hvis at som der hvor"},
    {"nb", "og eller men for fordi selv mens når hvis at som der hvor"},
    {"fi", "ja tai mutta eli vaan koska vaikka kun jos että joka jotka missä"},
    {"pl", "i oraz lub albo ale lecz bo ponieważ chociaż kiedy gdy jeśli że który która które gdzie"},
    {"cs", "a i nebo ale avšak protože ačkoli když zatímco jestli že který která které kde"},
    {"sk", "a i alebo ale avšak pretože hoci keď zatiaľ ak že ktorý ktorá ktoré kde"},
    {"hr", "i ili ali nego jer iako kad kada dok ako da koji koja koje gdje"},
    {"hu", "és vagy de hanem mert bár amikor míg ha hogy aki ami amely ahol"},
    {"tr", "ve veya ya ama fakat çünkü ancak eğer ki"},
    {"et", "ja või aga kuid vaid sest kuigi kui et kes mis kus"},
    {"lv", "un vai bet jo lai gan kad kamēr ja ka kas kur"},
    {"lt", "ir ar arba bet tačiau nes nors kai kol jei kad kuris kur"},
    {"ru", "и или но а да потому хотя когда пока если что чтобы который которая которые где"},
    {"uk", "і й та або але а бо тому хоча коли поки якщо що щоб який яка які де"},
    {"bg", "и или но а защото въпреки когато докато ако че който която които където"},
    {"el", "και ή αλλά όμως γιατί επειδή όταν ενώ αν ότι που όπου"},
    {"ar", "أو لكن لأن إذا عندما حيث الذي التي ثم"},
    {"fa", "و یا اما ولی زیرا چون اگر که وقتی"},
    {"he", "או אבל כי אם כאשר אשר אך"},
    {"hi", "और या लेकिन किंतु क्योंकि यदि जब कि जो"},
    {"id", "dan atau tetapi tapi karena meskipun ketika jika bahwa yang"},
    {"vi", "và hoặc nhưng vì mặc khi nếu rằng mà"},
};

}  // namespace

bool is_conjunction(std::string_view language, std::string_view word) {
  const auto* table = std::find_if(std::begin(kConjunctions), std::end(kConjunctions),
                                   [&](const Conjunctions& c) { return c.language == language; });
  if (table == std::end(kConjunctions) || word.empty() || word.find(' ') != std::string_view::npos) return false;
  const std::string_view words = table->words;
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

}  // namespace lapilli
